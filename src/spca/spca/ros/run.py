"""`--transport ros`: starts the nodes, has the supervisor run a level, and ends the nodes, whatever happens."""

from __future__ import annotations

from spca_interfaces.action import RunLevel

from spca.events import Listener
from spca.interrupt import stopping_on_interrupt
from spca.result import RunResult
from spca.ros.events import event
from spca_core.errors import Cancelled, InputError, SpcaError
from spca_core.options import RunOptions, manifest
from spca_core.run_folder import MANIFEST, RunFolder
from spca_ros import names
from spca_ros.calls import ActionCall
from spca_ros.domain import own_domain
from spca_ros.graph import Graph, ProcessSpec
from spca_ros.session import Session
from spca_tabletop.presets import load_table

LOGS = "log"
THINKING = (names.SUPERVISOR, names.SENSE, names.PLANNER, names.CODER)


def processes(options: RunOptions) -> list[ProcessSpec]:
    """The processes of a run.

    Simulated time passes only while somebody wants it to: not while a model thinks, which may take minutes, and not
    between the order for a motion and its beginning, where it would make the arm seem late on its path.
    """
    _, level = load_table(options)
    shared = {"world": options.world or level.world}
    return [
        ProcessSpec(
            "spca_sim.node",
            (names.SIM,),
            {
                **shared,
                "rate": options.rate or 0.0,
                "idle_rate": 0.0,
                "preset": options.preset,
                "seed": options.seed,
                "noise": options.noise,
                "camera": options.camera,
                "view": options.view,
            },
            ends_last=True,
        ),
        ProcessSpec("spca.ros.brain", THINKING, shared, needs_keys=True),
        ProcessSpec("spca_tabletop.ros.executor_node", (names.EXECUTOR,), shared),
        ProcessSpec("spca_referee.node", (names.REFEREE,), shared),
    ]


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
