"""Geometric paths through joint space, made of pieces that a time law can run along. Radians.

A polyline has its corners rounded, so that the arm need not stop at each: around a corner the direction of
travel turns from one leg's to the next one's by a smooth step, which keeps velocity and acceleration
continuous and jerk bounded.

Its times keep to limits of velocity, acceleration and jerk. Corners are traversed at the constant speed that
their curvature allows; on the straight legs between them `ruckig` finds the time-optimal jerk-limited change
from one corner's speed to the next. A leg too short for the change lowers the faster of the two speeds first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ruckig import InputParameter, Ruckig, RuckigError, Trajectory

from spca_core.errors import MotionError
from spca_core.geometry import Array
from spca_core.trajectory import JointTrajectory, PiecewiseCubic
from spca_motion.limits import MotionLimits

# Largest distance (rad, in joint space) from a corner at which its rounding starts.
_ROUNDING = 0.5
# Largest share of each leg that a corner may use, so that a straight part remains between two corners.
_LEG_SHARE = 0.45
# Maxima of the first and second derivatives of the smooth step 3u² - 2u³ over u in [0, 1].
_STEP_SLOPE, _STEP_BEND = 1.5, 6.0
# Share of the acceleration and jerk limits that a curve's bends may take up; the rest is for speeding up and
# down.
_BEND_SHARE = 0.5


@dataclass(frozen=True)
class Rates:
    """Bounds on the first three time derivatives of the position along a piece."""

    speed: float
    acceleration: float
    jerk: float

    @classmethod
    def straight(cls, shares: Array, limits: MotionLimits) -> Rates:
        """Return the rates at which joints that move by these `shares` (n,) of the piece keep the limits."""
        kept = limits.velocity, limits.acceleration, limits.jerk
        return cls(*(float((limit / shares.clip(min=1e-9)).min()) for limit in kept))


@dataclass(frozen=True)
class Leg:
    """A straight segment in joint space.

    `s` is the Euclidean distance from `start` along the unit vector `direction`.
    """

    start: Array
    direction: Array
    length: float

    def at(self, s: Array) -> tuple[Array, Array]:
        """Return the joints and their derivatives by s, each (m, n), at s (m,)."""
        joints = self.start + s[:, None] * self.direction
        return joints, np.broadcast_to(self.direction, joints.shape)

    def rates(self, limits: MotionLimits) -> Rates:
        """Return the rates that keep every joint within the limits anywhere on the piece."""
        return Rates.straight(np.abs(self.direction), limits)


@dataclass(frozen=True)
class Corner:
    """A rounded corner, traversed at constant speed.

    dq/ds = before + (after - before) · (3u² - 2u³), u = s/length.
    """

    start: Array
    before: Array
    after: Array
    length: float

    def at(self, s: Array) -> tuple[Array, Array]:
        """See `Leg`."""
        u = (s / self.length)[:, None]
        turn = self.after - self.before
        slope = self.before + turn * (3 * u**2 - 2 * u**3)
        return self.start + self.length * (self.before * u + turn * (u**3 - u**4 / 2)), slope

    def rates(self, limits: MotionLimits) -> Rates:
        """See `Leg`.

        At this speed the turn alone reaches the limits, so there is no room left to change it.
        """
        turn = np.abs(self.after - self.before).clip(min=1e-9)
        fastest = np.abs(np.stack([self.before, self.after])).max(axis=0).clip(min=1e-9)
        speed = min(
            (limits.velocity / fastest).min(),
            np.sqrt((limits.acceleration * self.length / (_STEP_SLOPE * turn)).min()),
            np.cbrt((limits.jerk * self.length**2 / (_STEP_BEND * turn)).min()),
        )
        return Rates(float(speed), 0.0, 0.0)


class Curve:
    """A smooth curve through close samples (m ≥ 4, n); `s` runs from 0 to 1.

    `extent` is its length in the world, m.
    """

    length = 1.0

    def __init__(self, samples: Array, extent: float) -> None:
        self._extent = extent
        self._spline = PiecewiseCubic.smooth(samples)
        self._slopes = [
            np.abs(self._spline(np.linspace(0.0, 1.0, 2 * len(samples)), order)) for order in (1, 2, 3)
        ]

    def at(self, s: Array) -> tuple[Array, Array]:
        """See `Leg`."""
        return self._spline(s), self._spline(s, 1)

    def rates(self, limits: MotionLimits) -> Rates:
        """See `Leg`. With q(s(t)): q̈ = q'' ṡ² + q' s̈ and q⃛ = q''' ṡ³ + 3 q'' ṡ s̈ + q' s⃛."""
        first, second, third = self._slopes
        along = Rates.straight(first.max(axis=0), limits)
        bend = float((second / limits.acceleration).max())
        slowest = limits.tool_speed / max(self._extent, 1e-9), np.sqrt(_BEND_SHARE / max(bend, 1e-12))
        speed = min(along.speed, *slowest)
        acceleration = along.acceleration * (1 - bend * speed**2)
        while (
            twist := float(((third * speed**3 + 3 * second * speed * acceleration) / limits.jerk).max())
        ) > _BEND_SHARE:
            speed, acceleration = 0.9 * speed, 0.9 * acceleration
        return Rates(float(speed), float(acceleration), along.jerk * (1 - twist))


Piece = Leg | Corner | Curve
"""A part of a path, run through by `s` from 0 to `length`."""


def rounded(waypoints: Array, roundings: Sequence[float] | None = None) -> list[Piece]:
    """Return the pieces of a polyline (m ≥ 2, n).

    `roundings` scales the rounding of each inner corner, from 0 (sharp) to 1; more than there are do no harm.
    """
    points = _distinct(waypoints)
    steps = np.diff(points, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    directions = steps / lengths[:, None]
    cut = np.zeros(len(points))
    for i in range(1, len(points) - 1):
        share = 1.0 if roundings is None else roundings[i - 1]
        cut[i] = share * min(_ROUNDING, _LEG_SHARE * lengths[i - 1], _LEG_SHARE * lengths[i])
    pieces: list[Piece] = []
    for i, (length, direction) in enumerate(zip(lengths, directions, strict=True)):
        if cut[i] > 0:
            start = points[i] - cut[i] * directions[i - 1]
            pieces.append(Corner(start, directions[i - 1], direction, 2 * float(cut[i])))
        straight = float(length - cut[i] - cut[i + 1])
        pieces.append(Leg(points[i] + cut[i] * direction, direction, straight))
    return pieces


def sampled(pieces: Sequence[Piece], step: float) -> Array:
    """Return joints (m, n) along the pieces, both ends included, at most about `step` radians apart."""
    rows = []
    for piece in pieces:
        slope = 1.0  # at most, of legs and corners
        if isinstance(piece, Curve):
            slope = np.linalg.norm(piece.at(np.linspace(0.0, piece.length, 9))[1], axis=1).max()
        count = max(int(np.ceil(slope * piece.length / step)), 1)
        rows.append(piece.at(np.linspace(0.0, piece.length, count + 1))[0][:-1])
    rows.append(pieces[-1].at(np.array([pieces[-1].length]))[0])
    return np.concatenate(rows)


def _distinct(waypoints: Array) -> Array:
    """Return the waypoints without repeated ones. Raises ValueError unless at least two remain."""
    keep = np.append(True, np.linalg.norm(np.diff(waypoints, axis=0), axis=1) > 1e-6)
    points = waypoints[keep]
    if len(points) < 2:
        raise ValueError("a path needs two distinct points")
    return points


PERIOD = 0.01
"""Seconds between the points of a trajectory."""
LONGEST_S = 60.0
"""Longest trajectory in seconds: as long as a step of a plan may take."""
# Share of a leg used for changing speed. The remaining thousandth absorbs rounding errors.
_USABLE = 0.999


def time_path(pieces: Sequence[Piece], limits: MotionLimits) -> JointTrajectory:
    """Return the trajectory along a path from rest to rest.

    The path begins and ends with a piece that is no corner. Raises MotionError('limit') if it takes too long.
    """
    rates = [piece.rates(limits) for piece in pieces]
    speeds = _speeds(pieces, rates)
    laws = [
        _Law(piece.length, rate, speeds[i], speeds[i + 1])
        for i, (piece, rate) in enumerate(zip(pieces, rates, strict=True))
    ]
    starts = np.concatenate([[0.0], np.cumsum([law.duration for law in laws])])
    if not starts[-1] <= LONGEST_S:
        raise MotionError("limit", f"the motion would take {starts[-1]:.0f} s, more than {LONGEST_S:.0f}")
    count = max(int(np.ceil(starts[-1] / PERIOD)), 2)
    times = np.linspace(0.0, starts[-1], count + 1)
    owner = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(pieces) - 1)
    positions, velocities = (np.empty((count + 1, len(limits.velocity))) for _ in range(2))
    for i, piece in enumerate(pieces):
        rows = owner == i
        if rows.any():
            s, rate = laws[i].at(times[rows] - starts[i])
            q, slope = piece.at(np.clip(s, 0.0, piece.length))
            positions[rows], velocities[rows] = q, slope * rate[:, None]
    velocities[-1] = 0.0
    return JointTrajectory(times, positions, velocities)


class _Law:
    """Position along a piece as a function of time."""

    def __init__(self, length: float, rates: Rates, before: float, after: float) -> None:
        self._speed = before
        self._profile: Trajectory | None = None
        if rates.acceleration == 0.0:
            self.duration = length / before
            return
        task, self._profile = InputParameter(1), Trajectory(1)
        task.current_velocity, task.target_position, task.target_velocity = [before], [length], [after]
        limits = [rates.speed], [rates.acceleration], [rates.jerk]
        task.max_velocity, task.max_acceleration, task.max_jerk = limits
        try:
            Ruckig(1).calculate(task, self._profile)
        except RuckigError:
            raise ValueError(f"no time law for {length} from {before} to {after} within {rates}") from None
        self.duration = float(self._profile.duration)

    def at(self, times: Array) -> tuple[Array, Array]:
        """Return position and speed (n,) at times (n,) from the piece's start."""
        if self._profile is None:
            return self._speed * times, np.full(len(times), self._speed)
        states = [self._profile.at_time(float(t)) for t in times]
        return np.array([p[0] for p, _, _ in states]), np.array([v[0] for _, v, _ in states])


def _speeds(pieces: Sequence[Piece], rates: Sequence[Rates]) -> Array:
    """Return the speed at each border between pieces, ends included, that both neighbours allow."""
    speeds = np.zeros(len(pieces) + 1)
    for i in range(1, len(pieces)):
        # Two legs without a corner between them meet at a sharp bend, where the arm has to stop.
        if isinstance(pieces[i - 1], Corner) or isinstance(pieces[i], Corner):
            speeds[i] = min(rates[i - 1].speed, rates[i].speed)
    while True:
        before = speeds.copy()
        for i, (piece, rate) in enumerate(zip(pieces, rates, strict=True)):
            low, high = sorted((speeds[i], speeds[i + 1]))
            if rate.acceleration == 0.0:
                speeds[i : i + 2] = low
            elif _run_up(low, high, rate) > _USABLE * piece.length:
                faster = i if speeds[i] > speeds[i + 1] else i + 1
                speeds[faster] = _fastest(low, high, _USABLE * piece.length, rate)
        if not (speeds < before).any():
            return speeds


def _run_up(low: float, high: float, rates: Rates) -> float:
    """Return the distance needed to change between two speeds, with zero acceleration at both ends."""
    change = high - low
    ramp = rates.acceleration / rates.jerk
    full = change >= rates.acceleration * ramp
    duration = change / rates.acceleration + ramp if full else 2 * np.sqrt(change / rates.jerk)
    return float((low + high) / 2 * duration)


def _fastest(low: float, high: float, length: float, rates: Rates) -> float:
    """Return the highest speed up to `high` that `length` is enough to reach from `low`."""
    reachable, beyond = low, high
    for _ in range(40):
        middle = (reachable + beyond) / 2
        if _run_up(low, middle, rates) <= length:
            reachable = middle
        else:
            beyond = middle
    return reachable
