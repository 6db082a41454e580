"""Motion only while somebody watches over it: the watchers' leases, counted in both clocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from spca_interfaces.msg import Lease

from spca_ros import names
from spca_ros.convert.time import seconds, time_msg
from spca_ros.node import SpcaNode
from spca_ros.qos import EVERY

_SILENCE_S = 0.8
"""Wall seconds without a lease after which a watcher counts as lost. DDS takes longer to notice a death."""
_LOOK_S = 0.1
_TELL_S = 0.05
_LAST_S = 2.0**31 - 1  # of a ROS time


class Watcher:
    """The leases of a node that watches: what it has seen (simulated seconds), whether that is new or not."""

    def __init__(self, node: SpcaNode, seen: Callable[[], float], on: bool = True) -> None:
        self._client, self._seen, self._on = node.get_name(), seen, on
        self._lease = node.create_publisher(Lease, names.LEASE, EVERY)
        node.wall_timer(_TELL_S, self.tell)

    def tell(self) -> None:
        """Tell it now, too."""
        if self._on:
            seen = min(max(self._seen(), 0.0), _LAST_S)  # anybody can have sent what it has seen
            self._lease.publish(Lease(client=self._client, seen=time_msg(seen)))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the context lasts. For threads that do not spin."""
        self._on = True
        self.tell()
        try:
            yield
        finally:
            self._on = False


class Watch:
    """The leases of the nodes that watch, while a job lasts (`begin` to `end`).

    A simulator may be many times faster than real time: what is safe in wall seconds is not in simulated
    ones. So the world does not run ahead of any watcher (see `limit`), and when one falls silent `on_lost` is
    called, in the turning thread. `client` watches over the jobs that it asks for: without a lease in a job
    or just before it, the job is another's. The nodes of `always` watch from their first lease on.
    """

    def __init__(
        self, node: SpcaNode, client: str, on_lost: Callable[[], None], always: Collection[str] = ()
    ) -> None:
        self._client, self._always, self._on_lost = client, always, on_lost
        self._seen: dict[str, float] = {}
        self._heard: dict[str, float] = {}
        self._watching = False
        self.lost = False
        """Whether a watcher of this job has fallen silent."""
        self.on_lease: Callable[[], None] = lambda: None
        """Called after each of their leases."""
        node.create_subscription(Lease, names.LEASE, self._on_lease, EVERY)
        node.wall_timer(_LOOK_S, self._look)

    def begin(self) -> None:
        """A job begins. A watcher tells that it watches before it asks for one: it may be lost since."""
        self.lost, self._watching = False, True
        if self._silent(self._client):
            self._seen.pop(self._client, None)

    def end(self) -> None:
        """The job has ended."""
        self._watching = False

    def limit(self, seen: float) -> float:
        """Return what may be reported as seen, in simulated seconds: at most what every watcher has."""
        return min(seen, *self._seen.values()) if self._watching and self._seen else seen

    def _on_lease(self, lease: Lease) -> None:
        if lease.client != self._client and lease.client not in self._always:
            return
        self._heard[lease.client] = time.monotonic()
        self._seen[lease.client] = seconds(lease.seen)
        if self._watching:
            self.on_lease()

    def _look(self) -> None:
        if self._watching and not self.lost and any(map(self._silent, [*self._seen])):
            self.lost = True
            self._on_lost()

    def _silent(self, client: str) -> bool:
        return time.monotonic() - self._heard.get(client, 0.0) > _SILENCE_S
