"""Watches over another node: whether it is ready, and the moment it is lost."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence

from builtin_interfaces.msg import Time
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import QoSLivelinessChangedInfo, SubscriptionEventCallbacks
from spca_interfaces.msg import NodeStatus

from spca_core.errors import Cancelled, SpcaError
from spca_ros import names
from spca_ros.node import SpcaNode, run_nodes
from spca_ros.qos import ALIVE, LEASE_S

_TICK_S = 0.1  # wall seconds between two looks at whether a wait is cancelled
_STARTED_AGAIN = "has died and was started again"


class NodeLost(SpcaError):
    """A node that is needed has died, hangs, or never came up."""


class Peer:
    """Another node as this one sees it.

    `on_ready` and `on_lost` are called in the turning thread, for each change.
    """

    def __init__(
        self,
        node: SpcaNode,
        name: str,
        on_lost: Callable[[], None] | None = None,
        on_ready: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self._node = node
        self._on_lost, self._on_ready = on_lost, on_ready
        self._ready, self._lost = threading.Event(), threading.Event()
        self._message = ""
        self._alive = 0
        self._heard = -math.inf
        self._doubt = node.wall_timer(LEASE_S, self._on_silence, started=False)
        self._ready_since: Time | None = None
        self._ended: Time | None = None  # since when the one was ready whose process has ended
        self.starts = 0
        """How often it was started and became ready: it may be started again after a fault."""
        node.create_subscription(
            NodeStatus,
            names.status(name),
            self._on_status,
            ALIVE,
            callback_group=ReentrantCallbackGroup(),
            event_callbacks=SubscriptionEventCallbacks(liveliness=self._on_liveliness),
        )

    @property
    def lost(self) -> bool:
        """True if it was there and is no more."""
        return self._lost.is_set()

    @property
    def ready(self) -> bool:
        """True if it has said that it is ready, and lives."""
        return self._ready.is_set()

    def wait_ready(self, timeout: float, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Wait until it is ready. Not from the spinning thread.

        Raises NodeLost when it is not within `timeout` wall seconds, and Cancelled once `cancelled()` holds.
        """
        end = time.monotonic() + timeout
        while not self._ready.wait(min(_TICK_S, timeout)):
            if cancelled():
                raise Cancelled(f"cancelled while the node '{self.name}' was starting")
            if time.monotonic() > end:
                raise NodeLost(f"the node '{self.name}' is not ready after {timeout:.0f} s")
        self.check()

    def check(self) -> None:
        """Raise NodeLost if it is lost."""
        if self.lost:
            raise NodeLost(f"the node '{self.name}' {self._message or 'has died or does not answer'}")

    def watch(self) -> Callable[[], None]:
        """A check for somebody who waits: raises NodeLost if it is lost, or was started again since now.

        A node that was started again knows nothing of what its predecessor was asked.
        """
        starts = self.starts

        def check() -> None:
            self.check()
            if 0 < starts < self.starts:
                raise NodeLost(f"the node '{self.name}' {_STARTED_AGAIN}")

        return check

    def ended(self, why: str) -> None:
        """Its process is known to have ended, which DDS notices only later. In the spinning thread."""
        self._ended = self._ready_since
        self._lose(why)

    def _on_status(self, status: NodeStatus) -> None:
        if status.since == self._ended:  # sent before its end
            return
        self._heard = time.monotonic()
        self._doubt.cancel()
        if status.state != NodeStatus.READY:
            self._lose(f"says: {status.message}" if status.message else "has ended")
            return
        if status.since != self._ready_since:  # else it repeats what it said
            if self.ready:  # it came back before DDS noticed that it was gone
                self._lose(_STARTED_AGAIN)
            self._ready_since = status.since
            self.starts += 1
        if not self.ready:
            self._message = ""
            self._lost.clear()
            self._ready.set()
            if self._on_ready is not None:
                self._on_ready()

    def _on_liveliness(self, info: QoSLivelinessChangedInfo) -> None:
        before, self._alive = self._alive, info.alive_count
        if self._alive > 0 or before == 0 or self._node.loop.has(self.name):
            return  # the next status says who lives; within a process DDS sends no signs of life
        if time.monotonic() - self._heard > LEASE_S:
            self._lose("")
        else:  # an earlier node of that name is lost, and DDS has no sign of life of the new one yet
            self._doubt.reset()

    def _on_silence(self) -> None:
        self._doubt.cancel()
        self._lose("")

    def _lose(self, message: str) -> None:
        if not self._lost.is_set():
            self._message = message
            self._ready.clear()
            self._lost.set()
            if self._on_lost is not None:
                self._on_lost()


def serve_supervisor(make: Callable[[], Sequence[SpcaNode]]) -> int:
    """Run nodes until they are ended; returns the exit status.

    A Ctrl-C reaches every process of a launch at once: the supervisor still needs these for the end of its
    run.
    """
    supervisor: list[Peer] = []

    def made() -> Sequence[SpcaNode]:
        nodes = make()
        supervisor.append(Peer(nodes[0], names.SUPERVISOR))
        return nodes

    return run_nodes(made, leaving=lambda: not any(peer.ready for peer in supervisor))
