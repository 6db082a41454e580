"""`--transport ros`: starts the nodes, has the supervisor run a level, and ends the nodes, whatever happens."""

from __future__ import annotations

from spca_interfaces.action import RunLevel

from spca.events import Listener
from spca.interrupt import stopping_on_interrupt
from spca.kits import kit_of
from spca.result import RunResult
from spca.ros.events import event
from spca_core.errors import Cancelled, InputError, SpcaError
from spca_core.options import RunOptions, manifest
from spca_core.run_folder import MANIFEST, RunFolder
from spca_ros import names
from spca_ros.calls import ActionCall
from spca_ros.domain import own_domain
from spca_ros.graph import Graph, ProcessSpec
from spca_ros.kit import RosSide
from spca_ros.session import Session

LOGS = "log"


def processes(options: RunOptions) -> list[ProcessSpec]:
    """The processes of a run: those of the environment, and the one that thinks."""
    kit = kit_of(options.level)
    side: RosSide = kit.ros()
    brain = ProcessSpec(
        "spca.ros.brain",
        (names.SUPERVISOR, names.PLANNER, names.CODER, *side.thinking),
        {"environment": kit.name, **side.parameters(options)},
        needs_keys=True,
    )
    return [*side.processes(options), brain]


def run_ros(
    options: RunOptions, folder: RunFolder, listeners: tuple[Listener, ...] = (), resume: bool = False
) -> RunResult:
    """Run one level to its end, or take up an interrupted run; its folder then holds all but the report.

    Raises the reason at once when a node is lost, and Cancelled when the user stops it before it has begun.
    """
    specs = processes(options)
    if not resume:
        folder.write(MANIFEST, manifest(options))
    interrupted: list[bool] = []
    with own_domain(), Session("cli") as node, Graph(node, specs, folder.path / LOGS) as graph:

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
            run_level = ActionCall(node, RunLevel, names.RUN_LEVEL, graph.peers[names.SUPERVISOR])
            graph.wait_ready(cancelled=cancelled)
            goal = RunLevel.Goal(attempt=folder.path.name, run_folder=str(folder.path), resume=resume)
            result = run_level(goal, on_feedback, cancelled)
    if result.input_error:
        raise InputError(result.message)
    if not result.outcome:
        if interrupted:
            raise Cancelled(result.message)
        raise SpcaError(result.message)
    return folder.read("result.json", RunResult)
