"""For tests: real nodes in processes of their own, in a DDS domain of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.domain import own_domain
from spca_ros.graph import Graph
from spca_ros.node import SpcaNode
from spca_ros.peer import NodeLost
from spca_ros.process_spec import ProcessSpec, Value
from spca_ros.session import RosSession


@contextmanager
def running(
    *specs: ProcessSpec, name: str = "test", logs: Path | None = None
) -> Iterator[tuple[SpcaNode, Graph]]:
    """Processes that are ready, and a node of this process; all of it ends with the context."""
    with (
        tempfile.TemporaryDirectory() as folder,
        own_domain(),
        RosSession(name) as node,
        Graph(node, specs, logs or Path(folder)) as graph,
    ):
        graph.wait_ready()
        yield node, graph


def ask(service: ServiceCall, request: Any) -> Any:
    """Call a service that was found a moment ago, and again if no answer comes.

    DDS drops an answer to a client that its server has not found yet, which takes it long on a busy machine.
    """
    try:
        return service(request, timeout=10.0)
    except NodeLost:
        return service(request, timeout=60.0)


def sim(**parameters: Value) -> ProcessSpec:
    """The embedded simulator; time stands still unless it is wanted."""
    return ProcessSpec("spca_sim.node", (names.SIM,), {"idle_rate": 0.0, **parameters}, ends_last=True)


def executor(**parameters: Value) -> ProcessSpec:
    """The executor with the embedded arm."""
    return ProcessSpec("spca_tabletop.ros.executor_node", (names.EXECUTOR,), parameters)


def sense(**parameters: Value) -> ProcessSpec:
    """Sense without a vision model."""
    return ProcessSpec("spca_sense.node", (names.SENSE,), parameters)


def referee(**parameters: Value) -> ProcessSpec:
    """The referee."""
    return ProcessSpec("spca_referee.node", (names.REFEREE,), parameters)
