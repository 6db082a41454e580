"""For tests: real nodes in processes of their own, in a DDS domain of their own."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rclpy.publisher import Publisher
from spca_interfaces.msg import NodeStatus

from spca_ros import names
from spca_ros.calls import NodeLost, ServiceCall
from spca_ros.domain import own_domain
from spca_ros.node import SpcaNode, ros_session
from spca_ros.node_process import NodeProcess, Value
from spca_ros.qos import STATE


class NodeSpec(NamedTuple):
    """A node, the module that runs it, and its parameters."""

    module: str
    node: str
    parameters: dict[str, Value]


@contextmanager
def running(
    *specs: NodeSpec, name: str = "test", logs: Path | None = None
) -> Iterator[tuple[SpcaNode, dict[str, NodeProcess]]]:
    """Processes that are ready, and a node of this process; all of it ends with the context."""
    with (
        tempfile.TemporaryDirectory() as folder,
        own_domain(),
        ros_session(name) as node,
        ExitStack() as stack,
    ):
        states = {spec.node: Heard.on(node, NodeStatus, names.status(spec.node), STATE) for spec in specs}
        started = {spec.node: stack.enter_context(NodeProcess(*spec, logs or Path(folder))) for spec in specs}
        for each, process in started.items():
            try:
                states[each].until(partial(_ready, states[each]))
            finally:
                process.check()  # says how it ended
        yield node, started


def _ready(states: Heard, _: NodeStatus) -> bool:
    return any(status.state == NodeStatus.READY for status in states)


class Heard(list[Any]):
    """What has come so far; whoever waits for more is told when it comes."""

    def __init__(self) -> None:
        super().__init__()
        self._news = threading.Condition()

    @classmethod
    def on(cls, node: SpcaNode, kind: type, topic: str, qos: Any) -> Heard:
        """The messages of a topic, from now on."""
        heard = cls()
        node.create_subscription(kind, topic, heard.hear, qos)
        return heard

    def hear(self, message: Any) -> None:
        """Take a message."""
        with self._news:
            self.append(message)
            self._news.notify_all()

    def until(self, condition: Callable[[Any], bool] = lambda _: True, seconds: float = 60.0) -> Any:
        """Wait until the newest message meets a condition; return it."""
        with self._news:
            assert self._news.wait_for(lambda: self and condition(self[-1]), seconds), "it never came to pass"
            return self[-1]


def heeded(node: SpcaNode, kind: type, topic: str, qos: Any) -> Publisher:
    """A publisher with a listener. rclpy's executor crashes on an event of one that has gone: it is asked."""
    publisher, end = node.create_publisher(kind, topic, qos), time.monotonic() + 60.0
    while not publisher.get_subscription_count():
        assert time.monotonic() < end, f"nobody listens to {topic}"
        time.sleep(0.01)
    return publisher


def ask(service: ServiceCall, request: Any) -> Any:
    """Call a service that was found a moment ago, and again if no answer comes.

    DDS drops an answer to a client that its server has not found yet, which takes it long on a busy machine.
    """
    try:
        return service(request, timeout=10.0)
    except NodeLost:
        return service(request, timeout=60.0)


def sim(**parameters: Value) -> NodeSpec:
    """The embedded simulator."""
    return NodeSpec("spca_sim.node", names.SIM, parameters)


def executor(**parameters: Value) -> NodeSpec:
    """The executor with the embedded arm."""
    return NodeSpec("spca_tabletop.ros.executor_node", names.EXECUTOR, parameters)


def sense(**parameters: Value) -> NodeSpec:
    """Sense without a vision model."""
    return NodeSpec("spca_sense.node", names.SENSE, parameters)


def referee(**parameters: Value) -> NodeSpec:
    """The referee."""
    return NodeSpec("spca_referee.node", names.REFEREE, parameters)
