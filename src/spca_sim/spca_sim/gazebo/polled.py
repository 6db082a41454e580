"""A topic that is read when its newest messages are wanted, and not when they come; and a slow service.

Gazebo's contact sensors report at every physics step, thousands of messages a second. Each would cost a
callback, and an executor that queues its events (rclpy's EventsExecutor) falls behind by seconds on a busy
machine: services are not answered, and contacts come when they are out of date. Messages that nobody takes
cost Python nothing; DDS keeps the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from spca_ros.node import SpcaNode, answering, background


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
        qos = QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)
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


class SlowService:
    """A service whose work takes seconds.

    It has a node and a thread of its own, so that the main node goes on spinning.

    (A coroutine that waits in the main node would keep its executor from everything else: rclpy polls it all
    the time.)
    """

    def __init__(self, node: SpcaNode, kind: Any, name: str, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._node = Node(f"{node.get_name()}_{name.replace('/', '_')}", use_global_arguments=False)
        self._node.create_service(kind, name, self._serve)
        self._loop = SingleThreadedExecutor()
        self._loop.add_node(self._node)
        self._ended = False
        self._thread = background(self._spin)
        node.at_end.append(self.close)

    def close(self) -> None:
        """Answer no more calls."""
        self._ended = True
        self._loop.wake()
        self._thread.join(5.0)
        self._node.destroy_node()

    def _spin(self) -> None:
        while not self._ended:
            self._loop.spin_once(timeout_sec=0.5)

    def _serve(self, request: Any, response: Any) -> Any:
        with answering(response):
            response = self._work(request)
        return response
