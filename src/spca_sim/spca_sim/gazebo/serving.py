"""A slow service for the Gazebo node."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from spca_ros.node import SpcaNode, background


class SlowService:
    """A service whose work takes seconds.

    It has a node and a thread of its own, so that the main node goes on spinning.

    (A coroutine that waits in the main node would keep its executor from everything else: rclpy polls it all
    the time.)
    """

    def __init__(self, node: SpcaNode, kind: Any, name: str, work: Callable[[Any], Any]) -> None:
        self._kind, self._work = kind, work
        self._node = Node(f"{node.get_name()}_{name.replace('/', '_')}", use_global_arguments=False)
        self._node.create_service(kind, name, self._serve)
        self._loop = SingleThreadedExecutor()
        self._loop.add_node(self._node)
        self._ended = False
        self._thread = background(self._spin)

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
        try:
            return self._work(request)
        except Exception as error:
            self._node.get_logger().error(traceback.format_exc())
            return self._kind.Response(success=False, message=f"{type(error).__name__}: {error}")
