"""Motion only while somebody watches over it: the watcher's lease, counted in both clocks."""

from __future__ import annotations

import time
from collections.abc import Callable

from spca_interfaces.msg import Lease

from spca_ros import names
from spca_ros.convert.time import seconds
from spca_ros.node import SpcaNode
from spca_ros.qos import EVERY

SILENCE_S = 0.8
"""Wall seconds without a lease after which the watcher counts as lost. DDS takes longer to notice a death."""
_LOOK_S = 0.1


class Watch:
    """The leases of the node `client`, while a job lasts (`begin` to `end`).

    A simulator may be many times faster than real time: what is safe in wall seconds is not in simulated
    ones. So the world does not run ahead of the watcher (see `limit`), and when it falls silent `on_lost` is
    called, in the turning thread. Without any lease in a job or just before it nobody watches, and nothing is
    limited.
    """

    def __init__(self, node: SpcaNode, client: str, on_lost: Callable[[], None]) -> None:
        self._client, self._on_lost = client, on_lost
        self._seen: float | None = None
        self._heard = 0.0
        self._watching = False
        self.lost = False
        """Whether the watcher of this job has fallen silent."""
        self.on_lease: Callable[[], None] = lambda: None
        """Called after each of its leases."""
        node.create_subscription(Lease, names.LEASE, self._on_lease, EVERY)
        node.wall_timer(_LOOK_S, self._look)

    def begin(self) -> None:
        """A job begins. A watcher tells that it watches before it asks for one: it may be lost since."""
        self.lost, self._watching = False, True
        if time.monotonic() - self._heard > SILENCE_S:
            self._seen = None

    def end(self) -> None:
        """The job has ended."""
        self._watching = False

    def limit(self, seen: float) -> float:
        """What may be reported as seen, in simulated seconds: at most what the watcher has."""
        watcher = self._seen
        return seen if watcher is None or not self._watching else min(seen, watcher)

    def _on_lease(self, lease: Lease) -> None:
        if lease.client != self._client:
            return
        self._seen, self._heard = seconds(lease.seen), time.monotonic()
        if self._watching:
            self.on_lease()

    def _look(self) -> None:
        if not self._watching or self._seen is None or self.lost:
            return
        if time.monotonic() - self._heard > SILENCE_S:
            self.lost = True
            self._on_lost()
