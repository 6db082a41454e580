"""Reinforcement learning on MiniGrid, as a baseline: PPO, where torch is installed."""
