"""The tabletop over ROS 2."""
