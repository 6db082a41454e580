"""Collects which models touched, over all physics steps of a sample period."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spca_core.contacts import Pair, pair
from spca_robot.windowless import mujoco


class ContactMonitor:
    """`watch` after each step; `take` returns all pairs of model names seen since it was last called.

    The model already excludes neighbouring links and the gripper's own fingers, and static bodies never
    touch: any remaining contact between two `cobot` geoms is a real self-collision.
    """

    def __init__(self, geom_models: Sequence[str]) -> None:
        self._names = tuple(geom_models)
        self._seen = np.zeros((len(geom_models), len(geom_models)), dtype=bool)

    def watch(self, data: mujoco.MjData) -> None:
        """Record the contacts of the last step."""
        geoms = data.contact.geom
        self._seen[geoms[:, 0], geoms[:, 1]] = True

    def take(self) -> frozenset[Pair]:
        """The pairs seen; forgets them."""
        pairs = frozenset(pair(self._names[a], self._names[b]) for a, b in np.argwhere(self._seen))
        self._seen[:] = False
        return pairs

    def save(self) -> bytes:
        """What has been seen since the last `take`, for a snapshot."""
        return np.packbits(self._seen).tobytes()

    def load(self, saved: bytes) -> None:
        """Back to what `save` returned."""
        n = len(self._names)
        bits = np.unpackbits(np.frombuffer(saved, dtype=np.uint8), count=n * n)
        self._seen[:] = bits.reshape(n, n).astype(bool)
