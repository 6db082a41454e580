"""A run as an episode for imitation learning: pictures, joints, actions, and the task in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Episode:
    """One run at a fixed rate of frames."""

    task: str
    """The task in words."""
    joints: NDArray[np.float32]
    """Joint positions in radians and the gripper's opening in metres, as in `joint_names`; shape (N, D)."""
    joint_names: tuple[str, ...]
    images: Iterator[NDArray[np.uint8]]
    """N raw pictures (H, W, 3) of the sensor's camera, RGB, nothing drawn in; can be read once."""
    size: tuple[int, int]
    """Width and height of the pictures in pixels, even numbers."""
    success: bool
