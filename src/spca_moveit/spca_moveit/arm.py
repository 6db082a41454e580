"""The `Arm` that plans with MoveIt 2 and moves any robot behind the `Robot` port."""

from __future__ import annotations

from functools import partial

import numpy as np

from spca_core.arms import ArmDescription
from spca_core.errors import MotionError
from spca_core.ports.robot import Robot
from spca_core.world import World
from spca_motion.execution import Tolerances
from spca_motion.limits import EMPTY, HOLDING, MotionLimits
from spca_motion.manipulator import Manipulator, assembled
from spca_motion.planner import MotionPlanner
from spca_moveit.checker import ProcessChecker
from spca_moveit.process import PlannerProcess
from spca_moveit.search import MoveItSearch

VELOCITY_SCALING = 0.3
"""Default share of the joints' speed limits that is used."""


def moveit_arm(
    world: World,
    robot: Robot,
    process: PlannerProcess,
    scaling: float = VELOCITY_SCALING,
    tolerances: Tolerances | None = None,
) -> Manipulator:
    """The arm with MoveIt's collision checks and searches.

    They run in `process`, which the caller must close.

    `scaling` in (0, 1] is the share of the joints' speed limits that `speed=1` means.
    """
    planner = MotionPlanner(world, partial(ProcessChecker, process=process), MoveItSearch(process))
    empty, holding = (scaled(limits, scaling, world.robot.arm) for limits in (EMPTY, HOLDING))
    return assembled(world, robot, planner, empty, holding, tolerances)


def scaled(limits: MotionLimits, scaling: float, arm: ArmDescription) -> MotionLimits:
    """Limits whose joint speeds are at most `scaling` times what the arm's can do; the rest in proportion.

    Raises MotionError('limit') for a scaling outside (0, 1].
    """
    if not 0.0 < scaling <= 1.0:
        raise MotionError("limit", f"velocity scaling must be in (0, 1], not {scaling}")
    velocity = np.minimum(limits.velocity, scaling * arm.column("velocity"))
    share = float((velocity / limits.velocity).min())
    return MotionLimits(velocity, limits.acceleration * share, limits.jerk * share, limits.tool_speed * share)
