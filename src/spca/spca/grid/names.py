"""How MiniGrid levels are named among the others."""

from __future__ import annotations

PREFIX = "minigrid:"


def is_minigrid(level: str) -> bool:
    """Whether a level's name (`minigrid:MiniGrid-DoorKey-8x8`) means a MiniGrid level."""
    return level.startswith(PREFIX)
