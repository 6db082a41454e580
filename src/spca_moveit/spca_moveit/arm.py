"""The `Arm` that plans with MoveIt 2 and moves any robot behind the `Robot` port."""

from __future__ import annotations

from functools import partial

import numpy as np

from spca_core.arms import ArmDescription
from spca_core.ports.robot import Robot
from spca_core.world import World
from spca_description.moveit_config import VELOCITY_SCALING
from spca_motion.execution import Tolerances
from spca_motion.limits import EMPTY, HOLDING, MotionLimits
from spca_motion.manipulator import Manipulator
from spca_motion.planner import MotionPlanner
from spca_moveit.checker import ProcessChecker
from spca_moveit.process import PlannerProcess
from spca_moveit.search import MoveItSearch


def moveit_arm(
    world: World, robot: Robot, process: PlannerProcess, tolerances: Tolerances | None = None
) -> Manipulator:
    """The arm with MoveIt's collision checks and searches.

    They run in `process`, which the caller must close.
    """
    planner = MotionPlanner(world, partial(ProcessChecker, process=process), MoveItSearch(process))
    limits = _scaled(EMPTY, world.robot.arm), _scaled(HOLDING, world.robot.arm)
    return Manipulator(world, robot, planner, tolerances, limits)


def _scaled(limits: MotionLimits, arm: ArmDescription) -> MotionLimits:
    """Limits whose joint speeds are at most that share of what the arm's can do; the rest in proportion."""
    velocity = np.minimum(limits.velocity, VELOCITY_SCALING * arm.column("velocity"))
    share = float((velocity / limits.velocity).min())
    return MotionLimits(velocity, limits.acceleration * share, limits.jerk * share, limits.tool_speed * share)
