"""An episode of robosuite, in its own process, and what the planner is told of its table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from spca_core.world import World, load_world
from spca_judges.catalogue import find
from spca_judges.remote import RemoteEpisode

PICK_PLACE = ("PickPlaceCan", "PickPlaceMilk", "PickPlaceBread", "PickPlaceCereal", "PickPlace")
"""Those in its arena with bins."""
TASKS = ("Lift", "Stack", "StackThree", *PICK_PLACE)
"""What is tried; robosuite has more, but not the last one (see `stack_three`)."""
CAMERAS = ("birdview",)
STIFFNESS = 300.0
"""Of the joint position controller, 1/s²: the most that it takes."""
_LINKS = ((0.0, 0.163), (-0.425, 0.0), (-0.392, 0.0), (0.0, 0.134), (0.0, 0.1), (0.0, 0.087))
"""Lengths a and d (m) of robosuite's model of the arm, which are rounded.

The last is less than its 0.098 by the gripper's coupling (11 mm), which robosuite leaves out.
"""
LIMIT_S = 50.0
"""Simulated seconds of an attempt: robosuite's own 1,000 steps at 20 Hz."""


def open_episode(
    task: str, robot: str = "UR5e", cameras: Sequence[str] = CAMERAS, log: Path | None = None
) -> RemoteEpisode:
    """Start it; `reset` it first. Raises InputError where robosuite is missing, SpcaError if it fails."""
    judge = find("robosuite")
    judge.check()
    server = Path(__file__).with_name("server.py")
    return RemoteEpisode(judge.python, server, [task, robot, str(STIFFNESS), ",".join(cameras)], log)


@lru_cache(maxsize=2)
def judged_world(bins: bool = False) -> World:
    """Robot, table (or the floor of the `bins`) and classes of things, in robosuite's own frame."""
    world = load_world(Path(__file__).with_name("bins.yaml" if bins else "table.yaml"))
    rows = zip(world.robot.arm.joints, _LINKS, strict=True)
    joints = tuple(joint.model_copy(update={"a": a, "d": d}) for joint, (a, d) in rows)
    arm = world.robot.arm.model_copy(update={"joints": joints})
    return world.model_copy(update={"robot": world.robot.model_copy(update={"arm": arm})})
