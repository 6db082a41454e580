"""Collision-free motion of a UR5 with a 2F-85: an arm on top of the `Robot` port.

Knows no simulator, and no ROS but in `moveit`.
"""
