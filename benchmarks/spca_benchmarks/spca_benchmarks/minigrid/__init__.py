"""The MiniGrid curriculum beside shortest ways, and reinforcement learning."""
