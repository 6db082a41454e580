"""Time parameterisation of a path within limits of velocity, acceleration and jerk.

Corners are traversed at the constant speed that their curvature allows; on the straight legs between them
`ruckig` finds the time-optimal jerk-limited change from one corner's speed to the next. A leg too short for
the change lowers the faster of the two speeds first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ruckig import InputParameter, Ruckig, RuckigError, Trajectory

from spca_core.errors import MotionError
from spca_core.geometry import Array
from spca_core.trajectory import JointTrajectory
from spca_motion.limits import MotionLimits
from spca_motion.paths import Corner, Piece, Rates

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
