"""Runs over ROS: one program that thinks, on whatever robot is on the graph."""
