"""Collects which models touched, and how, over all physics steps of a sample period."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from spca_core.contacts import LEVEL, UPRIGHT, Pair, Touch, Way, pair, ways_of_touching
from spca_core.geometry import Array
from spca_robot.windowless import mujoco

_WEIGHT = 0.1
"""Least share of a thing's weight at which one of several things below it counts as carrying it."""
_GRAIN = np.array([1.0, 1.0, 0.01, 0.01, 0.01, 1e-4, 1e-4, 1e-4])
"""Differences of geoms, normals and places (m) below which contacts are the same."""


class ContactMonitor:
    """A collector of contacts: `watch` after each step, and `take` the pairs seen since it was last called.

    The model already excludes neighbouring links and the gripper's own fingers, and static bodies never
    touch: any remaining contact between two geoms of the robot is a real self-collision.

    The physics has no contacts of what sleeps: those at which it fell asleep hold until it wakes.
    """

    def __init__(self, model: mujoco.MjModel, geom_models: Sequence[str], robot: str) -> None:
        """Watch a model; `geom_models` tell of each geom the model's name; `robot` is the robot's."""
        self._names, self._robot = tuple(geom_models), robot
        self._links = [model.body(body).name for body in model.geom_bodyid]
        self._weighs = {model.body(body).name: int(body) for body in np.flatnonzero(model.body_dofnum)}
        shape = (len(geom_models), len(geom_models))
        self._seen, self._beside = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        self._marked = b"", frozenset[Pair](), frozenset[Pair]()
        self._touching, self._last = np.zeros((0, 8)), (b"", frozenset[Way]())
        self._trees = model.body_treeid[model.geom_bodyid]  # -1: the last one, of what never moves
        self._sleeps, self._still = b"", np.zeros(0, dtype=bool)
        self._kept = np.zeros((0, 8))

    def watch(self, data: mujoco.MjData) -> None:
        """Record the contacts of the last step."""
        contact = data.contact
        self._mark(contact.geom, contact.frame[:, 2])
        if (sleeps := data.tree_asleep.tobytes()) != self._sleeps:
            self._mark(self._kept[:, :2].astype(int), self._kept[:, 4])
            self._sleeps, self._still = sleeps, np.append(data.tree_asleep >= 0, True)
            kept = np.vstack([self._kept, _contacts(data)])
            self._kept = kept[self._rests(kept)]

    def _mark(self, geoms: Array, up: Array) -> None:
        """Note that these pairs of geoms touch; `up` is the vertical part of the normal between them."""
        if len(geoms):
            a, b = geoms.T
            self._seen[a, b] = True
            self._beside[a, b] |= np.abs(up) <= LEVEL

    def _rests(self, touching: Array) -> NDArray[np.bool_]:
        """Return, for each contact (n,), whether nothing in it is awake."""
        return np.asarray(self._still[self._trees[touching[:, :2].astype(int)]].all(axis=1), dtype=np.bool_)

    def take(self, data: mujoco.MjData, rims: Mapping[str, float]) -> tuple[frozenset[Pair], frozenset[Way]]:
        """Return the pairs seen and how they touch now; forget them. `rims` as in `ways_of_touching`."""
        self._mark(self._kept[:, :2].astype(int), self._kept[:, 4])
        if (marks := self._seen.tobytes() + self._beside.tobytes()) != self._marked[0]:
            self._marked = marks, self._pairs(self._seen), self._pairs(self._beside)
        self._seen[:] = self._beside[:] = False
        touching = self._kept
        if data.ncon:
            awake = _contacts(data)
            touching = np.vstack([awake[~self._rests(awake)], touching])
        _, pairs, beside = self._marked
        aside = {("beside", *names) for names in beside if self._robot not in names}
        return pairs, self._ways(data, touching, rims) | aside

    def _pairs(self, seen: Array) -> frozenset[Pair]:
        return frozenset(pair(self._names[a], self._names[b]) for a, b in np.argwhere(seen))

    def _ways(self, data: mujoco.MjData, touching: Array, rims: Mapping[str, float]) -> frozenset[Way]:
        if touching is not self._touching:  # what rests does so for many samples
            self._touching, seen = touching, np.round(touching / _GRAIN).tobytes()
            if seen != self._last[0]:
                touches = [*self._by_height(touching)]
                light = self._weightless(data, touches)
                self._last = seen, ways_of_touching(touches, rims, self._robot, light)
        return self._last[1]

    def _by_height(self, touching: Array) -> Iterator[Touch]:
        """Yield how models touch, of every two geoms the lower one first."""
        geoms = touching[:, :2].astype(int).tolist()
        for (a, b), normal, point in zip(geoms, touching[:, 2:5], touching[:, 5:], strict=True):
            if self._names[a] != self._names[b]:
                lower, upper, up = (a, b, normal) if normal[2] > 0 else (b, a, -normal)
                links = self._links[lower], self._links[upper]
                yield Touch(self._names[lower], self._names[upper], tuple(up), tuple(point), links)

    def _weightless(self, data: mujoco.MjData, touches: Iterable[Touch]) -> frozenset[Pair]:
        """Return the pairs (upper, lower) in which the lower carries none of the upper one's weight.

        The soft contacts of the physics spread weight over the thinnest strip, as of a cube on one block
        that reaches the flush edge of the next. Here each thing below presses on the middle of where it
        touches, as rigid ones do, and the levers tell its share.
        """
        below: dict[tuple[str, str], dict[str, list[tuple[float, ...]]]] = {}
        for touch in touches:
            body = touch.links[1]
            if touch.normal[2] >= UPRIGHT and body in self._weighs:
                below.setdefault((touch.b, body), {}).setdefault(touch.a, []).append(touch.point[:2])
        found = set()
        for (name, body), carriers in below.items():
            if len(carriers) > 1:
                middles = [(np.min(at, axis=0) + np.max(at, axis=0)) / 2 for at in carriers.values()]
                centre = data.xipos[self._weighs[body]][:2]
                shares = zip(carriers, _shares(centre, np.array(middles)), strict=True)
                found |= {(name, lower) for lower, share in shares if share < _WEIGHT}
        return frozenset(found)

    def save(self) -> tuple[bytes, Array]:
        """Return what has been seen since the last `take`, and what sleeps touches, for a snapshot."""
        return np.packbits(np.stack([self._seen, self._beside])).tobytes(), self._kept

    def load(self, saved: tuple[bytes, Array], data: mujoco.MjData) -> None:
        """Restore what `save` returned, with the physics as it was then."""
        n = len(self._names)
        bits = np.unpackbits(np.frombuffer(saved[0], dtype=np.uint8), count=2 * n * n)
        self._seen[:], self._beside[:] = bits.reshape(2, n, n).astype(bool)
        self._sleeps, self._still = data.tree_asleep.tobytes(), np.append(data.tree_asleep >= 0, True)
        self._kept = saved[1]


def _contacts(data: mujoco.MjData) -> Array:
    """Return the physics' contacts (n, 8): two geoms, the normal from one to the other, the place."""
    contact = data.contact
    return np.hstack([contact.geom, contact.frame[:, :3], contact.pos])


def _shares(centre: Array, at: Array) -> Array:
    """Return the shares of a weight at `centre` (2,) carried at the points `at` (n, 2), none of which pulls.

    Of all distributions in equilibrium the one of least squares, as equal springs would have it.
    """
    shares, carrying = np.zeros(len(at)), np.ones(len(at), dtype=bool)
    arms = (at - centre) / max(float(np.ptp(at, axis=0).max()), 1e-6)
    while carrying.any():
        levers = np.vstack([np.ones(carrying.sum()), arms[carrying].T])
        found = np.linalg.pinv(levers) @ np.array([1.0, 0.0, 0.0])
        shares[:] = 0.0
        shares[carrying] = found
        if (found >= 0).all():
            break
        carrying[np.flatnonzero(carrying)[np.argmin(found)]] = False
    return shares
