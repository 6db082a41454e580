"""The robot for ROS tools: URDF, SRDF, ros2_control, MoveIt's configuration; all generated from the world description."""
