"""Runs as a graph of ROS nodes: the environment over ROS, the supervisor's node, and what starts them all."""
