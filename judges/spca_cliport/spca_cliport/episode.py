"""An episode of CLIPort, in its own process: pictures and a sentence come in, poses go out."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from spca_core.geometry import Pose
from spca_core.model import Record
from spca_core.world import World, load_world
from spca_judges.remote import RemoteEpisode

TASKS = ("put-block-in-bowl", "packing-boxes-pairs", "stack-block-pyramid-seq", "towers-of-hanoi-seq")
COLOURS = ("seen", "unseen")
"""Which colours CLIPort's learned models had in their training."""


class Instruction(Record):
    """The sentence of the next step, the score up to now (0-1), and how many actions are left."""

    text: str
    score: float
    left: int
    done: bool = False
    """Whether CLIPort is content."""


class PickPlaceEpisode(RemoteEpisode):
    """An `Episode` with other actions: what is driven are no joints, but one pick and place as a whole."""

    def instruction(self) -> Instruction:
        """Return CLIPort's current instruction."""
        return Instruction.model_validate(self._ask("feel")["state"])

    def pick_and_place(self, pick: Pose, place: Pose) -> None:
        """Pick at a pose and place at another one, in the frame of the robot's base, upright."""
        poses = (np.array([*pose.position, *pose.quaternion]) for pose in (pick, place))
        self._ask("act", **dict(zip(("pick", "place"), poses, strict=True)))


@lru_cache(maxsize=1)
def judged_world() -> World:
    """CLIPort's table, in the frame of its robot's base raised above the ground."""
    return load_world(Path(__file__).with_name("table.yaml"))
