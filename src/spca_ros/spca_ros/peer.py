"""Watches over another node: whether it is ready, and the moment it is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import QoSLivelinessChangedInfo, SubscriptionEventCallbacks
from spca_interfaces.msg import NodeStatus

from spca_core.errors import SpcaError
from spca_ros import names
from spca_ros.node import SpcaNode
from spca_ros.qos import ALIVE

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
        self._ready_since: Time | None = None
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
        """Whether it was there and is no more."""
        return self._lost.is_set()

    @property
    def ready(self) -> bool:
        """Whether it has said that it is ready, and lives."""
        return self._ready.is_set() and not self.lost

    def wait_ready(self, timeout: float) -> None:
        """Wait until it is ready; NodeLost when it is not within `timeout` wall seconds.

        Not from the spinning thread.
        """
        if not self._ready.wait(timeout):
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

    def _on_status(self, status: NodeStatus) -> None:
        if status.state == NodeStatus.READY:
            if status.since != self._ready_since:  # else DDS delivers what is latched once more
                if self.ready:  # it came back before DDS noticed that it was gone
                    self._lose(_STARTED_AGAIN)
                self._ready_since = status.since
                self.starts += 1
            self._lost.clear()
            self._message = ""
            self._ready.set()
            if self._on_ready is not None:
                self._on_ready()
        else:
            self._lose(f"says: {status.message}" if status.message else "has ended")

    def _on_liveliness(self, info: QoSLivelinessChangedInfo) -> None:
        before, self._alive = self._alive, info.alive_count
        if self._alive == 0 and before > 0 and not self._node.loop.has(self.name):
            self._lose("")  # (DDS sends no signs of life within a process, where none are needed)
        elif self._alive > 0 and self.lost and not self._message:
            self._lost.clear()  # it was stopped or starved for a while

    def _lose(self, message: str) -> None:
        if not self._lost.is_set():
            self._message = message
            self._lost.set()
            if self._on_lost is not None:
                self._on_lost()
