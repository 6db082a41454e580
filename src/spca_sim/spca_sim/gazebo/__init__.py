"""Gazebo Harmonic as the simulator: world as SDF, contacts by model name, resets, robot driver."""
