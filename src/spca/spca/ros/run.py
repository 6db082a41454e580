"""`--transport ros`: runs a level on a node graph, either the running one or one started for this run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from spca_interfaces.action import RunLevel

from spca.events import Listener
from spca.interrupt import stopping_on_interrupt
from spca.ros import standing
from spca.ros.events import event
from spca.ros.processes import parameters, processes
from spca.ros.standing import Standing
from spca_core.errors import Cancelled, InputError, SpcaError
from spca_core.options import RunOptions, manifest
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, RunFolder
from spca_ros import names
from spca_ros.calls import ActionCall
from spca_ros.domain import own_domain
from spca_ros.graph import Graph
from spca_ros.node import SpcaNode
from spca_ros.peer import NodeLost, Peer
from spca_ros.session import Session

LOGS = "log"
_READY_S = 20.0  # wall seconds that the nodes of a standing graph may take to be found
_NEWS_S = 3.0  # wall seconds until the keeper has told why a node was lost


@dataclass(frozen=True)
class _Connection:
    """A graph as a run sees it."""

    node: SpcaNode
    supervisor: Peer
    wait_ready: Callable[[Callable[[], bool]], None]
    check: Callable[[], None]
    """Raises the reason if the graph has failed."""
    wake: Callable[[], None]
    fault: Callable[[], str] = lambda: ""
    """Why a node was lost since the run began, as far as anybody knows better than the supervisor."""


def run_ros(
    options: RunOptions, folder: RunFolder, listeners: tuple[Listener, ...] = (), resume: bool = False
) -> RunResult:
    """Run one level to its end, or take up an interrupted run; its folder then holds all but the report.

    Raises the reason at once when a node is lost, and Cancelled when the user stops it before it has begun.
    """
    shared = parameters(options)
    if not resume:
        folder.write(MANIFEST, manifest(options))
    interrupted: list[bool] = []
    with _connected(options, shared, folder) as graph:

        def interrupt() -> None:
            interrupted.append(True)
            graph.wake()

        def cancelled() -> bool:
            graph.check()
            return bool(interrupted)

        def on_feedback(message: RunLevel.Feedback) -> None:
            for listener in listeners:
                listener(event(message.event))

        with stopping_on_interrupt(interrupt):
            run_level = ActionCall(graph.node, RunLevel, names.RUN_LEVEL, graph.supervisor)
            graph.wait_ready(lambda: bool(interrupted))
            goal = RunLevel.Goal(attempt=folder.path.name, run_folder=str(folder.path), resume=resume)
            try:
                result = run_level(goal, on_feedback, cancelled)
            except NodeLost as error:
                raise SpcaError(graph.fault() or str(error)) from error
        if result.input_error:
            raise InputError(result.message)
        if not result.outcome:
            if interrupted:
                raise Cancelled(result.message)
            raise SpcaError(graph.fault() or result.message)
    return folder.read("result.json", RunResult)


@contextmanager
def _connected(options: RunOptions, shared: dict[str, str], folder: RunFolder) -> Iterator[_Connection]:
    """The standing graph if it fits and is free, else one that ends with the run."""
    found = standing.find()
    with ExitStack() as stack:
        if found is not None:
            problem = standing.misfit(found, options, shared)
            if not problem and not stack.enter_context(standing.using(found)):
                problem = "is busy with another run"
            if not problem:
                yield stack.enter_context(_standing(found))
                return
            print(f"spca: not on the graph that is up: it {problem}", file=sys.stderr)
        yield stack.enter_context(_own(options, folder))


@contextmanager
def _own(options: RunOptions, folder: RunFolder) -> Iterator[_Connection]:
    specs = processes(options)
    with own_domain(), Session("cli") as node, Graph(node, specs, folder.path / LOGS) as graph:
        yield _Connection(
            node,
            graph.peers[names.SUPERVISOR],
            lambda cancelled: graph.wait_ready(cancelled=cancelled),
            graph.check,
            graph.wake,
        )


@contextmanager
def _standing(found: Standing) -> Iterator[_Connection]:
    began = time.time()
    wanted = {"ROS_DOMAIN_ID": str(found.domain), **found.secured}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        with Session("cli") as node:
            supervisor = Peer(node, names.SUPERVISOR)

            def check() -> None:
                if standing.find() is None:
                    raise SpcaError("the graph that was up has ended; its reason: " + standing.last_words())

            def fault() -> str:
                end = time.monotonic() + _NEWS_S
                while time.monotonic() < end:
                    now = standing.find()
                    if now is None or now.fault_at > began:
                        return now.fault if now is not None else standing.last_words()
                    time.sleep(0.1)
                return ""

            yield _Connection(
                node, supervisor, lambda _: supervisor.wait_ready(_READY_S), check, lambda: None, fault
            )
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
