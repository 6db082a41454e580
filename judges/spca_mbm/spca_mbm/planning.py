"""One problem, planned by the stack's own planner on one core."""

from __future__ import annotations

import time
from typing import Any, Literal

import numpy as np

from spca_core.geometry import Array
from spca_core.model import Record
from spca_mbm.problems import Problem, ur5_world
from spca_motion.collision import CollisionChecker
from spca_motion.limits import WorkspaceBox
from spca_motion.paths import sampled
from spca_motion.search import PathNotFound, Query, Start, TreeSearch
from spca_robot.gripper_2f85 import STROKE

CHECK_STEP = 0.01
"""Radians between the configurations of a found path that are checked again."""
_EVERYWHERE = WorkspaceBox(np.full(3, -np.inf), np.full(3, np.inf))


class Outcome(Record):
    """Outcome of one problem. Seconds of processor time; the length of the path in radians.

    invalid: start or goal is nearer to something than the planner's clearances allow; `message` says to what.
    """

    status: Literal["solved", "not_found", "invalid"]
    message: str = ""
    scene_s: float = 0.0
    planning_s: float = 0.0
    length: float = 0.0
    straight: float = 0.0
    """The length of the straight line in joint space."""
    touches: str = ""
    """What the found path touches, by the independent check; empty for nothing."""


class _Exact(CollisionChecker):
    """MuJoCo's checks alone, so that OMPL searches."""

    def kernel(self, *rules: Any, **options: Any) -> None:
        """See `Checker`."""


def plan(problem: Problem, ompl: bool = False) -> tuple[Outcome, Array | None]:
    """Plan; return the outcome, and the path (n, 6) at `CHECK_STEP` where there is one."""
    began = time.process_time()
    checker = (_Exact if ompl else CollisionChecker)(ur5_world(), problem.scene)
    checker.kernel(STROKE, None, 0.0, needed=True)
    scene_s = time.process_time() - began
    for what, joints in (("start", problem.start), ("goal", problem.goal)):
        if hits := checker.hits(joints, STROKE):
            worst = f"{what}: {hits[0]} ({1000 * hits[0].depth:.1f} mm nearer than allowed)"
            return Outcome(status="invalid", message=worst, scene_s=scene_s), None
    began = time.process_time()
    try:
        query = Query(checker, _EVERYWHERE, Start(problem.start, STROKE), STROKE)
        search = TreeSearch(ur5_world().robot.arm.column("range"))
        pieces = search.path(query, problem.goal[None], np.zeros(1), lambda: False)
    except PathNotFound as error:
        seconds = time.process_time() - began
        return Outcome(status="not_found", message=str(error), scene_s=scene_s, planning_s=seconds), None
    seconds = time.process_time() - began
    path = sampled(pieces, CHECK_STEP)
    return Outcome(
        status="solved", scene_s=scene_s, planning_s=seconds,
        length=float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum()),
        straight=float(np.linalg.norm(problem.goal - problem.start)),
    ), path  # fmt: skip
