"""Straight lines of the tool: inverse kinematics at close steps, followed on one branch from end to end."""

from __future__ import annotations

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array
from spca_core.rotations import matrix_of_vector, vector_of_matrix
from spca_motion.tool import ToolKinematics

# Spacing of the samples along a line (m and rad), and the largest motion of a joint between two samples.
_STEP, _TURN_STEP = 0.005, 0.05
_JUMP = 0.25
# By how much the last joint of a redundant arm turns along a line, tried in this order (rad).
_TURNS = (0.0, 0.3, -0.3, 0.6, -0.6, 0.9, -0.9, 1.2, -1.2)


def straight_line(tools: ToolKinematics, start: Array, goal: Array, gap: float) -> tuple[Array, float]:
    """Joint path (m ≥ 4, n) of a straight tool motion from `start` to the TCP pose `goal` (4×4).

    Also returns the line's length in metres.

    The orientation is interpolated uniformly along the line. Raises MotionError('unreachable') where the line
    leaves the reach, a joint its limits, or the arm would have to flip into another branch.
    """
    poses, extent = _interpolated(tools.tool(start, gap), goal)
    failures = []
    for turn in _TURNS if tools.arm.redundant else _TURNS[:1]:
        last = start[-1] + turn * np.linspace(0.0, 1.0, len(poses))
        try:
            return _followed(tools, start, poses, tools.branches(poses, gap, last[:, None])), extent
        except MotionError as failure:
            failures.append(failure)
    raise failures[0]


def _followed(tools: ToolKinematics, start: Array, poses: Array, branches: Array) -> Array:
    """The joint path (m, n) from `start` along the poses, each in the branch that is nearest to the last."""
    path = np.empty((len(poses), len(start)))
    path[0] = start
    for i in range(1, len(poses)):
        candidates = tools.arm.nearest_turns(branches[i], path[i - 1])
        jumps = np.abs(candidates - path[i - 1]).max(axis=1)
        share = 100 * i / (len(poses) - 1)
        if np.isnan(jumps).all():
            x, y, z = poses[i][:3, 3]
            leaves = "the arm's reach" if np.isnan(branches[i]).all() else "a joint's limits"
            raise MotionError(
                "unreachable",
                f"the straight line leaves {leaves} at {share:.0f} % of the way ({x:.3f}, {y:.3f}, {z:.3f})",
            )
        best = int(np.nanargmin(jumps))
        if jumps[best] > _JUMP:
            raise MotionError(
                "unreachable",
                f"the arm would have to swing round at {share:.0f} % of the straight line; use move_to",
            )
        path[i] = candidates[best]
    return path


def _interpolated(start: Array, goal: Array) -> tuple[Array, float]:
    extent = float(np.linalg.norm(goal[:3, 3] - start[:3, 3]))
    turn = vector_of_matrix(start[:3, :3].T @ goal[:3, :3])
    angle = float(np.linalg.norm(turn))
    count = max(int(np.ceil(max(extent / _STEP, angle / _TURN_STEP))), 3)
    share = np.linspace(0.0, 1.0, count + 1)
    poses = np.repeat(goal[None], count + 1, axis=0)
    poses[:, :3, 3] = start[:3, 3] + share[:, None] * (goal[:3, 3] - start[:3, 3])
    poses[:, :3, :3] = start[:3, :3] @ matrix_of_vector(share[:, None] * turn)
    return poses, extent
