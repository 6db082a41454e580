"""From Gazebo's contacts between collisions to contact samples between models.

Gazebo reports each touching pair of collisions once a physics step, by scoped names
(`box_red::link::collision`), and nothing at all once they part: a pair has ended when it has not been
reported for `TIMEOUT` seconds of simulated time. Rigid things that rest side by side bear no load and part by
less than can be seen: two that touched, and still lie to one another as they did then, touch still.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spca_core.contacts import SAMPLE_PERIOD, ContactSample, Pair, Touch, Way, pair
from spca_core.geometry import Pose
from spca_core.names import COBOT
from spca_robot.description.names import link_of_collision

# Longer than a few physics steps and than the bridge's jitter in simulated time, shorter than any dwell of a
# level.
TIMEOUT = 0.1
# Metres by which one of two that touched may have moved to the other.
STILL = 0.0005


class ModelPairs:
    """Names the models of two collisions that touch."""

    def __init__(self, models: Iterable[str], harmless: Iterable[Pair] = (), robot: str = COBOT) -> None:
        """Know the `models` that a level may name, and the `harmless` pairs of robot links, to be ignored."""
        self._models = frozenset(models)
        self._harmless = frozenset(pair(*p) for p in harmless)
        self._robot = robot

    def pair(self, collision1: str, collision2: str) -> Pair | None:
        """Return the unordered pair of models; None for a contact within a model or of no named one."""
        (one, link), (other, its_link) = self._of(collision1), self._of(collision2)
        if one is None or other is None:
            return None
        if one == other == self._robot:
            return None if pair(link, its_link) in self._harmless or link == its_link else (one, other)
        return None if one == other else pair(one, other)

    def touches(self, contact: Any) -> list[Touch]:
        """Return the points of a `ros_gz_interfaces/Contact`, not yet `oriented`."""
        (one, link), (other, its_link) = map(self._of, (contact.collision1.name, contact.collision2.name))
        if one is None or other is None or one == other:
            return []
        return [
            Touch(one, other, (n.x, n.y, n.z), (p.x, p.y, p.z), (link, its_link))
            for n, p in zip(contact.normals, contact.positions, strict=False)
        ]

    def _of(self, collision: str) -> tuple[str | None, str]:
        """Return the model (None for no named one) and the link of a collision's scoped name."""
        scope = collision.split("::")  # in which the world's name may come first
        model = next((name for name in scope[:2] if name in self._models), None)
        return model, link_of_collision(scope[-1])


def oriented(touches: Sequence[Touch], below: Sequence[Collection[str]]) -> list[Touch]:
    """Turn touches so that the upper model comes second, and the normals with them.

    Gazebo does not say which way a normal points. Of two models the upper one is that which nothing touches
    further down; `below` are models that are under all others that they touch, in layers, the lowest first.
    """
    layers = {model: layer - len(below) for layer, models in enumerate(below) for model in models}
    lowest: dict[str, tuple[int, float]] = {}
    for touch in touches:
        for model in (touch.a, touch.b):
            place = (layers.get(model, 0), touch.point[2])
            lowest[model] = min(lowest.get(model, place), place)
    found = []
    for touch in touches:
        x, y, up = touch.normal
        upward = replace(touch, normal=(-x, -y, -up) if up < 0 else touch.normal)
        if lowest[touch.a] > lowest[touch.b]:
            upward = replace(upward, a=touch.b, b=touch.a, links=touch.links[::-1])
        found.append(upward)
    return found


class ContactSampler:
    """Turns a stream of touches into samples at a fixed period of simulated time."""

    def __init__(
        self,
        emit: Callable[[ContactSample], None],
        ways: Callable[[Sequence[Touch]], frozenset[Way]] = lambda touches: frozenset(),
        poses: Callable[[], Mapping[str, Pose]] = dict,
    ) -> None:
        """Emit samples; `ways` tells from all points of contact how models touch, `poses` where they are."""
        self._emit, self._ways, self._poses = emit, ways, poses
        self._lay: dict[Pair, tuple[float, list[float]]] = {}
        self._seen: dict[Pair, float] = {}
        self._points: dict[Pair, tuple[float, Sequence[Touch]]] = {}
        self._next: float | None = None
        self._since = -math.inf

    def touch(self, stamp: float, pairs: Iterable[Pair], points: Iterable[Sequence[Touch]] = ()) -> None:
        """Take in which pairs touch at `stamp` (simulated s), and where. Reports may come in any order."""
        if stamp < self._since:
            return
        for touching in pairs:
            self._seen[touching] = max(stamp, self._seen.get(touching, stamp))
        for touches in filter(None, points):
            collisions = touches[0].a + touches[0].links[0], touches[0].b + touches[0].links[1]
            self._points[pair(*collisions)] = stamp, touches

    def due(self, now: float) -> bool:
        """Return whether a sample is emitted, or the sampling begins, at simulated time `now`."""
        return self._next is None or now >= self._next or now < self._next - 2 * SAMPLE_PERIOD

    def clock(self, now: float) -> None:
        """Emit the samples that are due at simulated time `now`."""
        if self._next is None or now < self._next - 2 * SAMPLE_PERIOD:  # the first, or the clock went back
            self._next = now + SAMPLE_PERIOD
            return
        while self._next is not None and self._next <= now:
            self._emit(self._sample(self._next))
            self._next += SAMPLE_PERIOD

    def clear(self, since: float = -math.inf) -> None:
        """Forget every contact, as after a reset of the world.

        This includes messages from before `since` that arrive later.
        """
        for memory in (self._seen, self._points, self._lay):
            memory.clear()
        self._next, self._since = None, since

    def _sample(self, stamp: float) -> ContactSample:
        poses = self._poses()
        for touching, seen in tuple(self._seen.items()):
            way = _between(poses, touching)
            when, lay = self._lay.get(touching, (-math.inf, []))
            if seen > when:
                self._lay[touching] = seen, way
            elif stamp - seen > TIMEOUT and not (way and lay and math.dist(way, lay) < STILL):
                del self._seen[touching], self._lay[touching]
        self._points = {
            key: (seen, touches)
            for key, (seen, touches) in self._points.items()
            if stamp - seen <= TIMEOUT
            or stamp - self._seen.get(pair(touches[0].a, touches[0].b), stamp) > TIMEOUT
        }
        touches = [touch for _, points in self._points.values() for touch in points]
        return ContactSample(stamp, frozenset(self._seen), self._ways(touches))


def _between(poses: Mapping[str, Pose], two: Pair) -> list[float]:
    """Return the way (x, y, z; m) from one thing to the other, empty where it is not known."""
    if two[0] not in poses or two[1] not in poses:
        return []
    return [b - a for a, b in zip(poses[two[0]].position, poses[two[1]].position, strict=True)]
