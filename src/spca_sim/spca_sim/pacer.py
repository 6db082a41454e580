"""Keeps a simulation from running faster than is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable

from spca_core.errors import InputError


class Pacer:
    """Sleeps so that simulated time runs at most `rate` times as fast as the wall clock.

    `rate` None: never sleeps. `clock` tells wall seconds, `sleep` waits for so many of them.

    A simulation that falls behind does not catch up later. A reset that sets the clock back restarts the
    pacing.
    """

    _SLACK = 0.25  # s of lag after which the past is forgotten

    def __init__(
        self,
        rate: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if rate is not None and not rate > 0:
            hint = "a number above 0, for example 1 or 2.5"
            raise InputError(f"real-time factor {rate}", where="--rate", hint=hint)
        self.rate, self._clock, self._sleep = rate, clock, sleep
        self._origin: tuple[float, float] | None = None  # wall and simulated seconds

    def pace(self, simulated: float) -> None:
        """Wait until the wall clock has caught up with that simulated time."""
        if self.rate is None:
            return
        now = self._clock()
        if self._origin is None or simulated < self._origin[1]:
            self._origin = (now, simulated)
        ahead = self._origin[0] + (simulated - self._origin[1]) / self.rate - now
        if ahead > 0:
            self._sleep(ahead)
        elif ahead < -self._SLACK:
            self._origin = (now, simulated)
