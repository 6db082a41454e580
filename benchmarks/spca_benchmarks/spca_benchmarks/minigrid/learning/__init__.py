"""Reinforcement learning on MiniGrid, as a baseline: tabular in the tree, PPO where it is installed."""
