"""MoveIt 2 as the arm's planner: `moveit_py` checks collisions and plans, in a process of its own.

Nothing outside `moveit_backend` imports MoveIt or ROS, so that the rest can be imported and tested without
them.
"""
