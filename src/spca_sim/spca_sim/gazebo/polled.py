"""A topic that is read when its newest messages are wanted, and not when they come.

Gazebo's contact sensors report at every physics step, thousands of messages a second. Each would cost a
callback, and an executor that queues its events (rclpy's EventsExecutor) falls behind by seconds on a busy
machine: services are not answered, and contacts come when they are out of date. Messages that nobody takes
cost Python nothing; DDS keeps the newest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy

from spca_ros.qos import keep_last


class PolledTopic:
    """A subscription on a node of its own, which no executor spins."""

    def __init__(self, context: Context, name: str, kind: type, topic: str, depth: int) -> None:
        """Subscribe; `depth` messages are kept, the newest. `name` is the node's."""
        self._node = Node(
            name,
            context=context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        qos = keep_last(depth, ReliabilityPolicy.BEST_EFFORT)
        self._depth = depth
        self._subscription = self._node.create_subscription(kind, topic, lambda message: None, qos)

    def take(self) -> Iterator[Any]:
        """Yield the messages kept now, the oldest first, each of them once."""
        subscription = self._subscription
        for _ in range(self._depth):  # others may come meanwhile; they are for the next time
            with subscription.handle:
                taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
            if taken is None:
                return
            yield taken[0]

    def close(self) -> None:
        """Unsubscribe."""
        self._node.destroy_node()
