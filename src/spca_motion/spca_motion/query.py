"""One planning question: where the motion starts, what rules hold on the way, and what to blame where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spca_core.geometry import Array
from spca_motion.collision import CollisionChecker
from spca_motion.limits import WorkspaceBox
from spca_motion.paths import Piece, sampled
from spca_robot.gripper_2f85 import tcp_offset

EDGE_STEP = 0.02
"""Postures are checked at least this often along every path, in radians of Euclidean joint distance."""


@dataclass(frozen=True)
class Start:
    """Where a motion begins: joints (6,), the gap between the pads in metres, and what may be touched on the way."""

    joints: Array
    gap: float
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Fault:
    """A posture on a path that breaks the rules: `piece` by number, `share` of the way from 0 to 1, `reason` in words."""

    piece: int
    share: float
    reason: str

    def __str__(self) -> str:
        return f"{self.reason} at {100 * self.share:.0f} % of the way"


class Query:
    """Tells valid postures from others, from a start, with the tool centre point taken at `tcp_gap`."""

    def __init__(self, checker: CollisionChecker, box: WorkspaceBox, start: Start, tcp_gap: float) -> None:
        self.start = start
        self._checker, self._reach = checker, tcp_offset(tcp_gap)
        checker.begin(start.joints, start.gap, start.allowed)
        (self._x0, self._y0, self._z0), (self._x1, self._y1, self._z1) = box.low.tolist(), box.high.tolist()
        # An arm that is outside the workspace must be able to return.
        self._bounded = self._inside()

    def valid(self, joints: Array) -> bool:
        """Whether the arm may be there on the way."""
        return self._checker.valid(joints, self.start.gap) and (not self._bounded or self._inside())

    def all_valid(self, postures: Iterable[Array]) -> bool:
        """Whether every one of the postures is valid."""
        return all(map(self.valid, postures))

    def blame(self, joints: Array) -> str:
        """What is wrong with a posture that is not valid."""
        hits = self._checker.hits(joints, self.start.gap)
        return str(hits[0]) if hits else "the tool would leave the workspace"

    def fault(self, pieces: Sequence[Piece]) -> Fault | None:
        """The first fault along a path, or None."""
        samples = [sampled([piece], EDGE_STEP) for piece in pieces]
        last = sum(map(len, samples)) - 1
        done = 0
        for number, rows in enumerate(samples):
            for k, joints in enumerate(rows):
                if not self.valid(joints):
                    return Fault(number, (done + k) / last, self.blame(joints))
            done += len(rows)
        return None

    def _inside(self) -> bool:
        """Whether the tool is in the workspace, at the posture last checked."""
        (x, y, z), (ax, ay, az) = self._checker.flange()
        r = self._reach
        return (
            self._x0 <= x + r * ax <= self._x1
            and self._y0 <= y + r * ay <= self._y1
            and self._z0 <= z + r * az <= self._z1
        )


def edge(start: Array, goal: Array) -> Array:
    """The postures (n, 6) to check between two, at `EDGE_STEP`; both included."""
    count = max(int(np.ceil(np.linalg.norm(goal - start) / EDGE_STEP)), 1)
    return start + np.linspace(0.0, 1.0, count + 1)[:, None] * (goal - start)
