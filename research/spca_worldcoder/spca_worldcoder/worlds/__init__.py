"""Worlds to learn: Sokoban, MiniGrid, and variants of both."""
