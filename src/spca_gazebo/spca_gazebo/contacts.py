"""From Gazebo's contacts between collisions to contact samples between models.

Gazebo reports each touching pair of collisions once a physics step, by scoped names
(`box_red::link::collision`), and nothing at all once they part: a pair has ended when it has not been
reported for `timeout` seconds of simulated time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from spca_core.contacts import SAMPLE_PERIOD, ContactSample, Pair, pair
from spca_core.names import COBOT
from spca_description.gazebo import link_of_collision

# Longer than a few physics steps and than the bridge's jitter in simulated time, shorter than any dwell of a
# level.
TIMEOUT = 0.1


class ModelPairs:
    """Names the models of two collisions that touch."""

    def __init__(self, models: Iterable[str], harmless: Iterable[Pair] = (), robot: str = COBOT) -> None:
        """`models` are the names a level may use; `harmless` are pairs of robot links to be ignored."""
        self._models = frozenset(models)
        self._harmless = frozenset(pair(*p) for p in harmless)
        self._robot = robot

    def pair(self, collision1: str, collision2: str) -> Pair | None:
        """The unordered pair of models, or None where the contact is within one model or of no named one."""
        scope1, scope2 = collision1.split("::"), collision2.split("::")
        one, other = self._model(scope1), self._model(scope2)
        if one is None or other is None:
            return None
        if one == other == self._robot:
            links = pair(link_of_collision(scope1[-1]), link_of_collision(scope2[-1]))
            return None if links in self._harmless or links[0] == links[1] else (one, other)
        return None if one == other else pair(one, other)

    def _model(self, scope: list[str]) -> str | None:
        """The first name of a scope that is a model's; a world's name may stand before it."""
        return next((name for name in scope[:2] if name in self._models), None)


class ContactSampler:
    """Turns a stream of touches into samples at a fixed period of simulated time."""

    def __init__(
        self,
        emit: Callable[[ContactSample], None],
        period: float = SAMPLE_PERIOD,
        timeout: float = TIMEOUT,
    ) -> None:
        self._emit, self._period, self._timeout = emit, period, timeout
        self._seen: dict[Pair, float] = {}
        self._next: float | None = None
        self._since = -math.inf

    def touch(self, stamp: float, pairs: Iterable[Pair]) -> None:
        """These pairs touch at `stamp` (simulated s). Reports may come in any order."""
        if stamp < self._since:
            return
        for touching in pairs:
            self._seen[touching] = max(stamp, self._seen.get(touching, stamp))

    def due(self, now: float) -> bool:
        """Return whether a sample is emitted, or the sampling begins, at simulated time `now`."""
        return self._next is None or now >= self._next or now < self._next - 2 * self._period

    def clock(self, now: float) -> None:
        """Simulated time is `now`: emit the samples that are due."""
        if self._next is None or now < self._next - 2 * self._period:  # the first, or the clock went back
            self._next = now + self._period
            return
        while self._next is not None and self._next <= now:
            self._emit(ContactSample(stamp=self._next, pairs=self._touching(self._next)))
            self._next += self._period

    def clear(self, since: float = -math.inf) -> None:
        """Forget every contact, as after a reset of the world.

        This includes messages from before `since` that arrive later.
        """
        self._seen.clear()
        self._next, self._since = None, since

    def _touching(self, stamp: float) -> frozenset[Pair]:
        self._seen = {p: seen for p, seen in self._seen.items() if stamp - seen <= self._timeout}
        return frozenset(self._seen)
