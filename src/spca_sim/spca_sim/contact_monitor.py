"""Collects which models touched, over all physics steps of a sample period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from spca_core.contacts import Pair, pair
from spca_core.geometry import Array
from spca_robot.windowless import mujoco

_LEVEL = 0.7
"""Vertical part of a contact's normal from which one of the two lies over the other."""
_WEIGHT = 0.1
"""Least share of the weight of what lies over several things that each of them carries."""


class ContactMonitor:
    """`watch` after each step; `take` returns all pairs of model names seen since it was last called.

    The model already excludes neighbouring links and the gripper's own fingers, and static bodies never
    touch: any remaining contact between two `cobot` geoms is a real self-collision. Of the movable `objects`,
    one that lies over several touches those on which it rests some of its weight: a cube on one block that
    reaches the flush edge of the next is no bridge.
    """

    def __init__(self, geom_models: Sequence[str], bodies: Array, objects: Iterable[str]) -> None:
        """`geom_models` and `bodies` tell of each geom the model's name and the body."""
        self._names, self._bodies = tuple(geom_models), [int(body) for body in bodies]
        self._body_names = dict(zip(self._bodies, self._names, strict=True))
        self._movable = frozenset(objects)
        self._last: tuple[bytes, set[Pair]] = b"", set()
        self._seen = np.zeros((len(geom_models), len(geom_models)), dtype=bool)

    def watch(self, data: mujoco.MjData) -> None:
        """Record the contacts of the last step."""
        geoms = data.contact.geom
        self._seen[geoms[:, 0], geoms[:, 1]] = True

    def take(self, data: mujoco.MjData) -> frozenset[Pair]:
        """The pairs seen, without those of which one only lies over the other now; forgets them."""
        pairs = frozenset(pair(self._names[a], self._names[b]) for a, b in np.argwhere(self._seen))
        self._seen[:] = False
        return pairs - self._weightless(pairs, data)

    def _weightless(self, pairs: Iterable[Pair], data: mujoco.MjData) -> set[Pair]:
        """The pairs of which one lies over the other, and over more, without resting on it.

        The soft contacts of the physics spread weight over the thinnest strip. Here each thing below presses
        on the middle of where it touches, as rigid ones do, and the levers tell its share.
        """
        solid = Counter(name for p in pairs if self._movable.issuperset(p) for name in p)
        if max(solid.values(), default=0) < 2:
            return set()
        seen = data.contact.geom.tobytes() + np.round(data.contact.pos, 4).tobytes()
        if seen != self._last[0]:  # what rests does so for many samples
            self._last = seen, self._light(data)
        return self._last[1]

    def _light(self, data: mujoco.MjData) -> set[Pair]:
        """See `_weightless`, from the present contacts."""
        below: dict[int, dict[int, list[Array]]] = {}
        for (a, b), normal, point in zip(
            data.contact.geom, data.contact.frame[:, 2], data.contact.pos, strict=True
        ):
            bodies = self._bodies[a], self._bodies[b]
            if abs(normal) > _LEVEL and self._movable & {self._names[a], self._names[b]}:
                lower, upper = sorted(bodies, key=lambda body: data.xpos[body, 2])
                below.setdefault(upper, {}).setdefault(lower, []).append(point[:2])
        found = set()
        for upper, carriers in below.items():
            middles = {body: (np.min(at, axis=0) + np.max(at, axis=0)) / 2 for body, at in carriers.items()}
            for lower, middle in middles.items():
                others = [m for body, m in middles.items() if body != lower]
                if others and self._share(data.xipos[upper, :2], middle, np.mean(others, axis=0)) < _WEIGHT:
                    names = pair(self._body_names[upper], self._body_names[lower])
                    found |= {names} if self._movable.issuperset(names) else set()
        return found

    @staticmethod
    def _share(centre: Array, middle: Array, other: Array) -> float:
        """Return the share of a weight at `centre` that is carried at `middle` if the rest is at `other`."""
        along = middle - other
        return float((centre - other) @ along / max(float(along @ along), 1e-12))

    def save(self) -> bytes:
        """Return what has been seen since the last `take`, for a snapshot."""
        return np.packbits(self._seen).tobytes()

    def load(self, saved: bytes) -> None:
        """Back to what `save` returned."""
        n = len(self._names)
        bits = np.unpackbits(np.frombuffer(saved, dtype=np.uint8), count=n * n)
        self._seen[:] = bits.reshape(n, n).astype(bool)
