"""For tests: real nodes in processes of their own, in a DDS domain of their own."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from spca_interfaces.msg import NodeStatus

from spca_ros import names
from spca_ros.calls import NodeLost, ServiceCall
from spca_ros.domain import own_domain
from spca_ros.node import SpcaNode
from spca_ros.node_process import NodeProcess, Value
from spca_ros.qos import STATE
from spca_ros.session import RosSession

_READY_S = 60.0


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
        RosSession(name) as node,
        ExitStack() as stack,
    ):
        ready = {spec.node: threading.Event() for spec in specs}
        for each, event in ready.items():
            node.create_subscription(NodeStatus, names.status(each), partial(_note, event), STATE)
        started = {spec.node: stack.enter_context(NodeProcess(*spec, logs or Path(folder))) for spec in specs}
        end = time.monotonic() + _READY_S
        while not all(event.wait(0.05) for event in ready.values()):
            for process in started.values():
                process.check()
            assert time.monotonic() < end, "a node is not ready"
        yield node, started


def _note(ready: threading.Event, status: NodeStatus) -> None:
    if status.state == NodeStatus.READY:
        ready.set()


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
