"""The robot for ROS tools: URDF, SRDF, ros2_control and MoveIt's configuration.

All of it is generated from the world description.
"""
