"""Grid worlds on the command line, and MiniGrid levels through the same supervisor, planner and coder as the robot."""
