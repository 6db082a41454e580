"""A run as an episode for imitation learning: pictures, joints, actions, and the task in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder


@dataclass(frozen=True)
class Episode:
    """One run at a fixed rate of frames."""

    task: str
    """What was to be done, in words."""
    joints: NDArray[np.float32]
    """Shape (N, D): joint positions in radians and the gripper's opening in metres, as in `joint_names`."""
    joint_names: tuple[str, ...]
    images: Iterator[NDArray[np.uint8]]
    """N raw pictures (H, W, 3) of the sensor's camera, RGB, nothing drawn in; can be read once."""
    size: tuple[int, int]
    """Width and height of the pictures in pixels, even numbers."""
    success: bool


@runtime_checkable
class RecordsEpisodes(Protocol):
    """A kit whose runs can be turned into episodes."""

    def robot(self, options: RunOptions) -> str:
        """The name of a run's robot, for the data set."""
        ...

    def episode(self, folder: RunFolder, options: RunOptions, fps: int) -> Episode:
        """The last attempt of a finished run, at `fps` frames a simulated second.

        Raises InputError when the run has no recording.
        """
        ...
