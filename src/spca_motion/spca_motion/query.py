"""One planning query: start state, the rules along the path, and the explanation of a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from spca_core.geometry import Array
from spca_motion.collision import Hit
from spca_motion.limits import WorkspaceBox
from spca_motion.paths import Corner, Piece, corners, rounded, sampled
from spca_robot.gripper_2f85 import tcp_offset

if TYPE_CHECKING:
    from spca_motion.kernel import Kernel

EDGE_STEP = 0.02
"""Largest Euclidean joint distance (rad) between configurations that are checked along a path."""


class Checker(Protocol):
    """Collision checks in one planning scene. Joints are (n,) in radians, gaps between the pads in metres."""

    def begin(self, joints: Array, gap: float, allowed: Iterable[str] = ()) -> None:
        """Set the rules for the motion that starts at `joints`.

        The gripper may touch what is named in `allowed`, and what is in contact at the start may stay so.
        """
        ...

    def valid(self, joints: Array, gap: float) -> bool:
        """Return whether nothing is nearer than the rules of the motion allow."""
        ...

    def first_invalid(self, path: Array, gap: float, inside: Callable[[], bool]) -> int | None:
        """Return the index of the first configuration of `path` (m, n) that is invalid or fails `inside`.

        Returns None if there is none. `inside` looks at `flange`, which then is that configuration's.
        """
        ...

    def hits(self, joints: Array, gap: float) -> list[Hit]:
        """Return the violated clearances, deepest first where depths are known.

        Empty for a valid configuration.
        """
        ...

    def kernel(self, gap: float, box: Array | None, reach: float, needed: bool = False) -> Kernel | None:
        """Return what proves configurations free by the rules of the motion, or None where nothing does.

        The point `reach` metres ahead of the flange must stay in `box` (2, 3). Loaded once it is `needed`.
        """
        ...

    def flange(self) -> tuple[list[float], list[float]]:
        """Return the position of `tool0` in `world` and its z axis, at the configuration checked last."""
        ...


@dataclass(frozen=True)
class Start:
    """Start of a motion: joints (n,), gap between the pads (m), and contacts allowed on the way."""

    joints: Array
    gap: float
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PathFault:
    """A configuration on a path that breaks the rules.

    `piece` is its segment's number, `share` how far along that segment it lies (0 to 1), `reason` the
    explanation, `hit` the thing that would be hit, if one would.
    """

    piece: int
    share: float
    reason: str
    hit: str

    def __str__(self) -> str:
        return f"{self.reason} at {100 * self.share:.0f} % of the way"


class Query:
    """Validity of configurations for a motion from a given start.

    `tcp_gap` (m) is the gap between the pads that defines the tool centre point.
    """

    def __init__(self, checker: Checker, box: WorkspaceBox, start: Start, tcp_gap: float) -> None:
        self.start = start
        self.reach = tcp_offset(tcp_gap)
        """Distance of the tool centre point from `tool0`, along its z axis, in metres."""
        self.checker = checker
        checker.begin(start.joints, start.gap, start.allowed)
        (self._x0, self._y0, self._z0), (self._x1, self._y1, self._z1) = box.low.tolist(), box.high.tolist()
        # An arm that is outside the workspace must be able to return.
        self._bounded = True
        self._bounded = self._inside()
        self.box = box if self._bounded else None
        """Box in which the tool must stay; None if it starts outside."""
        self._kernel: Kernel | None = None

    def valid(self, joints: Array) -> bool:
        """Return whether the configuration is allowed on the path."""
        return self.checker.valid(joints, self.start.gap) and self._inside()

    def first_invalid(self, path: Array) -> int | None:
        """Return the index of the first configuration of `path` (m, n) where the arm may not be, or None."""
        kernel = self.kernel()
        if kernel is None:
            return self.checker.first_invalid(path, self.start.gap, self._inside)
        return next((int(i) for i in np.flatnonzero(kernel.states(path)) if not self.valid(path[i])), None)

    def kernel(self, needed: bool = False) -> Kernel | None:
        """See `Checker`."""
        if self._kernel is None:
            box = None if self.box is None else np.stack([self.box.low, self.box.high])
            self._kernel = self.checker.kernel(self.start.gap, box, self.reach, needed)
        return self._kernel

    def blame(self, joints: Array) -> tuple[str, str]:
        """Describe what is wrong with a configuration that is not valid, and name what would be hit."""
        hits = self.checker.hits(joints, self.start.gap)
        return (str(hits[0]), hits[0].other) if hits else ("the tool would leave the workspace", "")

    def fault(self, pieces: Sequence[Piece]) -> PathFault | None:
        """Return the first fault along a path, or None."""
        samples = [sampled([piece], EDGE_STEP) for piece in pieces]
        path = np.concatenate(samples)
        at = self.first_invalid(path)
        if at is None:
            return None
        number = int(np.searchsorted(np.cumsum([len(rows) for rows in samples]), at, side="right"))
        return PathFault(number, at / (len(path) - 1), *self.blame(path[at]))

    def straight(self, goal: Array) -> list[Piece] | None:
        """Return the path straight to `goal` (n,) in joint space, or None if it is not free."""
        if self.first_invalid(edge(self.start.joints, goal)) is not None:
            return None
        return rounded(np.stack([self.start.joints, goal]))

    def smooth(self, waypoints: Array) -> list[Piece] | None:
        """Return the path through waypoints (m, n), with corners rounded as far as that is collision-free.

        None if the path itself is in collision.
        """
        roundings = [1.0] * corners(waypoints)
        while True:
            pieces = rounded(waypoints, roundings)
            fault = self.fault(pieces)
            if fault is None:
                return pieces
            if not isinstance(pieces[fault.piece], Corner):
                return None
            # Corners that could not be rounded have no piece of their own.
            still_round = [i for i, share in enumerate(roundings) if share > 0]
            at = still_round[sum(isinstance(p, Corner) for p in pieces[: fault.piece])]
            roundings[at] = roundings[at] / 2 if roundings[at] > 0.1 else 0.0

    def _inside(self) -> bool:
        """Return whether the tool is where it must stay, at the configuration last checked."""
        if not self._bounded:
            return True
        (x, y, z), (ax, ay, az) = self.checker.flange()
        r = self.reach
        return (
            self._x0 <= x + r * ax <= self._x1
            and self._y0 <= y + r * ay <= self._y1
            and self._z0 <= z + r * az <= self._z1
        )


def edge(start: Array, goal: Array) -> Array:
    """Return the configurations (m, n) to check between two, at `EDGE_STEP`; both included."""
    count = max(int(np.ceil(np.linalg.norm(goal - start) / EDGE_STEP)), 1)
    return start + np.linspace(0.0, 1.0, count + 1)[:, None] * (goal - start)
