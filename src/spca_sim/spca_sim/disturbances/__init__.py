"""Disturbances of the world, drawn by seed, and what carries them out in the simulator."""
