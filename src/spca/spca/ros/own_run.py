"""A run on a node graph of its own, which ends with it."""

from __future__ import annotations

from pathlib import Path

from spca.events import Listener
from spca.interrupt import stopping_on_interrupt
from spca.ros.processes import processes
from spca.ros.run_level import RunLevelCall
from spca.ros.run_protocol import RunOrder
from spca_core.errors import Cancelled
from spca_core.options import RunOptions
from spca_ros import names
from spca_ros.domain import own_domain
from spca_ros.graph import Graph
from spca_ros.session import RosSession


def run_on_own(options: RunOptions, order: RunOrder, tell: Listener, logs: Path) -> None:
    """Start the nodes, run a level to its end, and end the nodes; their logs go to `logs`.

    Raises the reason if there is no result: see `RunEnd.check`; and at once when a node is lost.
    """
    cancelled = False
    started: list[Graph] = []

    def interrupt() -> None:
        nonlocal cancelled
        cancelled = True
        for graph in started:
            graph.wake()

    def check() -> None:
        if cancelled:
            raise Cancelled("cancelled before the nodes were started")

    # The handler comes first: an exception in the middle of ROS's own calls may crash the process.
    with stopping_on_interrupt(interrupt), own_domain(), RosSession("cli") as node:
        check()
        with Graph(node, processes(options), logs) as graph:
            started.append(graph)

            def is_cancelled() -> bool:
                graph.check()
                return cancelled

            run_level = RunLevelCall(node, graph.peers[names.SUPERVISOR])
            graph.wait_ready(cancelled=lambda: cancelled)
            end = run_level(order, tell, is_cancelled)
    end.check(cancelled)
