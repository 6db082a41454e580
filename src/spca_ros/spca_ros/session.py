"""A node for programs that are not nodes themselves; it spins in the background while they work."""

from __future__ import annotations

import rclpy
from rclpy.context import Context
from rclpy.signals import SignalHandlerOptions

from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, background


class RosSession:
    """Use as a context manager: `with RosSession("cli") as node: …`.

    In the domain that ROS_DOMAIN_ID names at the start.
    """

    def __init__(self, name: str) -> None:
        self._context = Context()
        arguments = ["--ros-args", "--disable-external-lib-logs"]  # no log files in the home folder
        rclpy.init(args=arguments, context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self.node = SpcaNode(name, Loop(self._context))
        self._ended = False
        self._thread = background(self._spin)

    def __enter__(self) -> SpcaNode:
        return self.node

    def __exit__(self, *failure: object) -> None:
        self._ended = True
        self.node.loop.wake()
        self._thread.join(timeout=5.0)
        self.node.destroy_node()
        self.node.loop.close()
        self._context.try_shutdown()

    def _spin(self) -> None:
        while not self._ended and self._context.ok():
            self.node.loop.turn()
