"""Disturbances of the world, drawn by seed, and what carries them out in the simulator.

What they are and what the robot does about them is in docs/disturbances.md.
"""
