"""Gazebo Harmonic as the simulator: the world as SDF, contacts by model name, resets, and the robot's driver."""
