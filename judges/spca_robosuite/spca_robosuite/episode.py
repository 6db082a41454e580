"""An episode of robosuite, in its own process, and what the planner is told of its table."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

from spca_core.world import World, WristSensor, load_world
from spca_judges.catalogue import find
from spca_judges.remote import RemoteEpisode

PICK_PLACE = ("PickPlaceCan", "PickPlaceMilk", "PickPlaceBread", "PickPlaceCereal", "PickPlace")
"""Those in its arena with bins."""
SOLVED = ("Lift", "Stack", "StackThree", *PICK_PLACE)
REFUSED = ("NutAssemblySquare", "NutAssemblyRound", "Door")
"""Rings with a handle, pegs and doors have no words, kinds or skills in the stack."""
TASKS = (*SOLVED, *REFUSED)
"""What is tried; robosuite has more, but not the last one (see `stack_three`)."""
ROBOTS = ("UR5e", "Panda")
"""Of robosuite's arms those that the stack has a description of; each with the Robotiq 85."""
CAMERAS = ("birdview",)
STIFFNESS = 300.0
"""Of the joint position controller, 1/s²: the most that it takes."""
_LINKS = ((0.0, 0.163), (-0.425, 0.0), (-0.392, 0.0), (0.0, 0.134), (0.0, 0.1), (0.0, 0.087))
"""Lengths a and d (m) of robosuite's model of the arm, which are rounded.

The last is less than its 0.098 by the gripper's coupling (11 mm), which robosuite leaves out.
"""
PANDA_FLANGE = 0.1065 - 0.011
"""From joint 7 to robosuite's flange (m), again without the gripper's coupling."""
_FOLDED = (0.0, -1.2, 0.0, -2.9, 0.0, 1.7, math.pi / 4)
"""The Panda's configuration out of the camera's view, radians."""
_TURNED = WristSensor(length=0.0005, radius=0.03, turn=-math.pi / 4)
"""robosuite turns what is mounted on the Panda by this about the flange's axis."""
LIMIT_S = 50.0
"""Simulated seconds of an attempt: robosuite's own 1,000 steps at 20 Hz."""


def open_episode(task: str, robot: str = ROBOTS[0]) -> RemoteEpisode:
    """Start it; `reset` it first. Raises InputError where robosuite is missing, SpcaError if it fails."""
    judge = find("robosuite")
    judge.check()
    server = Path(__file__).with_name("server.py")
    return RemoteEpisode(judge.python, server, [task, robot, str(STIFFNESS), ",".join(CAMERAS)])


@lru_cache(maxsize=4)
def judged_world(bins: bool = False, robot: str = ROBOTS[0]) -> World:
    """Robot, table (or the floor of the `bins`) and classes of things, in robosuite's own frame."""
    file = str(Path(__file__).with_name("bins.yaml" if bins else "table.yaml"))
    world = load_world(file if robot == ROBOTS[0] else f"{file}@{robot.lower()}")
    mount, arm = world.robot, world.robot.arm
    if robot == ROBOTS[0]:
        rows = zip(arm.joints, _LINKS, strict=True)
        joints = tuple(joint.model_copy(update={"a": a, "d": d}) for joint, (a, d) in rows)
        mount = mount.model_copy(update={"arm": arm.model_copy(update={"joints": joints})})
    else:
        flange = arm.model_copy(update={"flange": PANDA_FLANGE - _TURNED.length})
        mount = mount.model_copy(update={"arm": flange, "wrist_sensor": _TURNED, "out_of_view": _FOLDED})
    return world.model_copy(update={"robot": mount})
