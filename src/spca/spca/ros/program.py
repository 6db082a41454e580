"""The program that thinks: six nodes in this process, and one run after the other on the robot on the graph.

`python -m spca.ros.program FOLDER` runs the level of a run folder that has a manifest; its exit status is the
verdict's. Without a folder it waits for goals (`supervisor/run_level`, `supervisor/do`). A program uses other
nodes where it is told their names: `planner:=/planner`. `ros2 run spca planner`, on any machine, is one.
"""

from __future__ import annotations

import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from rclpy.utilities import remove_ros_args
from spca_interfaces.action import Do, RunLevel
from spca_interfaces.msg import NodeStatus, RunEvent
from spca_interfaces.msg import StepReport as StepReportMsg
from spca_interfaces.msg import Verdict as VerdictMsg

from spca.interrupt import STOPPED, stopping_on_interrupt
from spca.journal import Event, Listener
from spca.kits import checked_kit, kit_of, kits
from spca.proposals import open_stages
from spca.ros.graph import ENDED, Check
from spca.run_command import follow
from spca.runs import RESULT, Run
from spca.stages import Stages
from spca_coder.node import CoderNode
from spca_core.errors import EXIT_INTERRUPTED, Cancelled, InputError, Lost, SpcaError
from spca_core.model import checked
from spca_core.options import THINKING, RunOptions, described
from spca_core.ports.environment import Environment
from spca_core.ports.kit import Kit
from spca_core.processes.child import leave
from spca_core.result import Ending, RunResult
from spca_core.run_folder import RunFolder, scratch
from spca_core.skill import StepReport
from spca_core.stopping import Flag
from spca_planner.node import PlannerNode
from spca_planner.solver.process import warm_solver
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.convert.records import to_msg
from spca_ros.loop import Loop
from spca_ros.node import QUIET, SpcaNode, background, close_nodes, run_nodes, spinning, taking_part, tell
from spca_ros.qos import EVERY
from spca_ros.stages import RosCoder, RosPlanner, RosSide
from spca_ros.world import asker_of_world

if TYPE_CHECKING:
    from spca.conversation import Conversation
    from spca.sessions import Session

READY = """ready: say what to do, or run a level, as in
  ros2 action send_goal /supervisor/do spca_interfaces/action/Do "{sentence: touch the left cube}"
  ros2 action send_goal /supervisor/run_level spca_interfaces/action/RunLevel "{level: stack_01}\""""
_END_S = 5.0
_ANSWER_S = 3.0  # wall seconds that a simulator may take to say which world it has
_LOOK_S = 0.1  # wall seconds between two looks whether this is to end


# Which of an event's data travel, by kind: names in the record → names in the message.
_DATA: dict[str, dict[str, str]] = {
    "run_started": {"task": "task", "judge": "mode"}, "stage_started": {"round": "round"},
    "stage_ended": {"seconds": "seconds"}, "plan": {"steps": "task"}, "code": {"kind": "mode"},
    "draft": {"mode": "mode", "accepted": "accepted"}, "round_failed": {"round": "round"},
    "verdict": {"outcome": "outcome", "score": "score"},
    "run_ended": {"outcome": "outcome", "score": "score"},
}  # fmt: skip


def event_msg(event: Event) -> RunEvent:
    """Return an event as a message."""
    message = to_msg(event, RunEvent())
    if event.kind == "step":
        message.step = [to_msg(StepReport.model_validate(event.data), StepReportMsg())]
    for name, there in _DATA.get(event.kind, {}).items():
        if name in event.data:
            value = event.data[name]
            setattr(message, there, "\n".join(value) if isinstance(value, list) else value)
    return message


class SupervisorNode(SpcaNode):
    """Passes goals on to the program. What a goal leaves empty is as in the parameters."""

    def __init__(self, program: Program, kit: Kit, loop: Loop) -> None:
        super().__init__(names.SUPERVISOR, loop)
        self._program, self._kit = program, kit
        self.defaults: dict[str, Any] = {
            "level": self.parameter("level", "stack_01", "name or path of a level"),
            "preset": self.parameter("preset", "nominal", "a preset of the environment, such as shuffled"),
            "seed": self.parameter("seed", 0, "draws the table and the sensor's noise"),
        }
        self.view = self.parameter("view", "none", "web: a page for the browser", choices=("none", "web"))
        for name in THINKING:
            default, words, text = described(name)
            self.defaults[name] = self.parameter(name, default, text, choices=words)
        self.elsewhere = {
            stage: self.parameter(stage, "", f"node that takes the place of {stage}; empty: none")
            for stage in (names.SENSE, names.PLANNER, names.CODER)
        }
        self._tell: Listener = lambda event: None  # to whoever has asked for what is under way
        self._events = self.create_publisher(RunEvent, names.EVENTS, EVERY)
        LongAction(self, RunLevel, names.RUN_LEVEL, partial(self._conduct, RunLevel, self._level), self._stop)
        LongAction(self, Do, names.DO, partial(self._conduct, Do, self._sentence), self._stop)

    def tell_event(self, event: Event) -> None:
        """Publish an event of a run; whoever has asked for it hears of it, too."""
        self._events.publish(event_msg(event))
        self._tell(event)

    def close(self) -> None:
        """Stop the arm and end the run."""
        self._program.stop()
        super().close()

    def _stop(self) -> None:
        background(self._program.stop)  # a callback must not wait for the arm's lock

    def _level(self, goal: RunLevel.Goal) -> Run:
        wanted = {name: getattr(goal, name) for name in ("level", "preset", "seed") if getattr(goal, name)}
        options = checked(RunOptions, **{**self.defaults, "video": False, **wanted})
        if checked_kit(options).name != self._kit.name:  # before anything is written
            raise InputError(f"level '{options.level}' is not of the environment '{self._kit.name}'")
        return self._program.conversation().level(Path(goal.run_folder) if goal.run_folder else None, options)

    def _sentence(self, goal: Do.Goal) -> Run | str:
        return self._program.conversation().reply(goal.sentence.strip())

    def _conduct(self, kind: Any, carry_out: Callable[[Any], Run | str], job: Job) -> Any:
        """Carry out what a goal asks for; return the answer, also where there is no result."""

        def hear(event: Event) -> None:
            job.feedback(kind.Feedback(attempt=job.goal.attempt, event=event_msg(event)))

        self._tell = hear
        try:
            run = carry_out(job.goal)
        except Exception as error:
            job.failed, wrong = True, isinstance(error, InputError)  # a client's mistake, not this program's
            self.get_logger().error(str(error) if wrong else traceback.format_exc())
            # A goal's field has the name of the command line's option.
            message = str(error).removeprefix("--")
            message = message if isinstance(error, SpcaError) else f"{type(error).__name__}: {error}"
            return kind.Result(message=message, input_error=wrong)
        finally:
            self._tell = lambda event: None
        if isinstance(run, str):  # nothing has been done, and there is no folder
            return kind.Result(outcome=Ending.SUCCESS.value, message=run)
        result = run.result
        job.failed = kind is Do and result.refused
        folder = "" if kind is Do and result.refused else str(run.folder)  # is gone
        answer = kind.Result(outcome=result.outcome.value, message=result.reason, run_folder=folder)
        if kind is RunLevel:
            answer.verdict = to_msg(result.verdict, VerdictMsg())
        return answer


class Program:
    """See the module. One run at a time, in the thread that asks for it; the nodes are spun by another.

    `alive` raises why the world is gone, if it is. The supervisor's parameters name nodes of somebody else's
    that take the place of a stage.
    """

    def __init__(self, kit: Kit, alive: Check, loop: Loop) -> None:
        self.loop = loop
        self._alive, self.loop.check, self.loop.wanted = alive, self._check, self._wanted
        self.supervisor = SupervisorNode(self, kit, self.loop)
        elsewhere = self.supervisor.elsewhere
        made: Callable[..., RosSide] | None = kit.ros()
        if made is None:
            hint = "leave --ros away"
            raise InputError(f"the environment '{kit.name}' runs in one process only", hint=hint)
        self._side = made(self.loop, elsewhere["sense"])
        self._planner, self._coder = PlannerNode(loop=self.loop), CoderNode(loop=self.loop)
        sides = ("planner", RosPlanner, self._planner), ("coder", RosCoder, self._coder)
        self._remote: dict[str, Any] = {
            stage: side(node, elsewhere[stage]) for stage, side, node in sides if elsewhere[stage]
        }
        self.environment: Environment | None = None
        """The world of the last run, until the next one lays another."""
        self._world_there = asker_of_world(self.supervisor)
        self._run: Run | None = None
        self.talk: Conversation | None = None
        """The conversation about the table, where somebody holds one already."""
        self._opened, self._making = ExitStack(), Lock()
        warm_solver()

    @property
    def nodes(self) -> list[SpcaNode]:
        """All nodes of this process."""
        return [self.supervisor, *self._side.nodes, self._planner, self._coder]

    def conduct(self, run: Run, listeners: tuple[Listener, ...] = (), anew: bool = True) -> RunResult:
        """Carry out a run; `anew` on a table that is laid for it, else on the one that is there.

        Raises SpcaError while another run is under way.
        """
        with self._side.using():
            self._run, heard = run, (*listeners, self.supervisor.tell_event)
            try:
                return run.carry_out(partial(self._place, anew), heard)
            finally:
                self._run = None

    def stop(self) -> None:
        """Stop the arm and end the run under way; may be called from any thread."""
        if (run := self._run) is not None:
            run.cancel()

    def conversation(self) -> Conversation:
        """The one conversation about the table, which goals over ROS are a part of; shown where this runs."""
        from spca.console import Progress
        from spca.conversation import Conversation

        with self._making:  # a goal may come while the page is being made
            if self.talk is None:
                progress = Progress()
                self.talk = Conversation(self._opened.enter_context(session_of(self, progress)), progress)
            return self.talk

    def laid(self) -> dict[str, str]:
        """Return the options that name the simulator's world, and the arm in it; none on a real arm."""
        with suppress(Lost):
            return {"world": self._world_there(_ANSWER_S), "robot": ""}
        return {}

    def part(self) -> None:
        """End the run under way, and part with the world."""
        self.supervisor.close()
        self._opened.close()
        self._side.part()

    @contextmanager
    def _place(self, anew: bool, options: RunOptions, opened: Stages) -> Iterator[tuple[Environment, Stages]]:
        """Open the world on the graph and the stages that the nodes offer, as long as the context lasts.

        The world is the one that is there, unless its table is to be laid `anew`.
        """
        self._planner.planner = self._remote.get("planner", opened.planner)
        self._coder.coder = self._remote.get("coder", opened.coder)
        try:
            if self.environment is not None and not anew:
                self.environment.take_up(options)
            else:
                self._side.part()
                self.environment = None
                self.environment = self._side.build(options, opened.vision, self._check, anew)
            yield self.environment, replace(opened, planner=self._planner, coder=self._coder)
            self._side.rest()
        except SpcaError:
            self._alive()  # else what the end of the world has caused would be named in its place
            raise
        finally:
            self._planner.planner = self._coder.coder = None

    def _check(self) -> None:
        self._alive()
        if self.environment is None:  # nothing moves yet that would have to be stopped
            self._wanted()

    def _wanted(self) -> None:
        if self._run is not None and self._run.cancelled:
            raise Cancelled(self._run.cancelled)


@contextmanager
def program(kit: Kit, alive: Check = lambda: None, arguments: Sequence[str] = QUIET) -> Iterator[Program]:
    """Open the program in the domain of ROS_DOMAIN_ID; its nodes are spun as long as the context lasts."""
    with taking_part(arguments) as loop, ExitStack() as opened:
        made = Program(kit, alive, loop)
        opened.callback(close_nodes, made.nodes)
        opened.enter_context(spinning(loop))
        opened.callback(made.part)
        tell(made.nodes, NodeStatus.READY)
        yield made


def main() -> None:
    """Run the level of a folder, or wait for goals, and end the process with the exit status."""
    given = remove_ros_args(sys.argv)[1:]
    try:
        status = _launched(Path(given[0])) if given else _wait()
    except SpcaError as error:
        print(f"spca: {error}", file=sys.stderr)
        status = error.exit_status
    leave(status)


def _launched(path: Path) -> int:
    """Carry out the run of a folder that a launch has made; return the exit status.

    A launch sends several signals, until it kills: none but the first counts. A stop that was asked for is no
    failure of this process, whose whole command the launch would show.
    """
    run = _Launched.of(path)
    with stopping_on_interrupt(lambda: run.cancel(run.fault() or STOPPED), again=lambda: None):
        status = follow(run)
    return 0 if status == EXIT_INTERRUPTED else status


class _Launched(Run):
    """A run on what a launch has started, which says in a file why it ends before the level does."""

    def stopping_on_interrupt(self) -> AbstractContextManager[None]:
        """See `Run`."""
        return nullcontext()

    def advance(self, *listeners: Listener, **_: Any) -> RunResult:
        """See `Run`."""
        try:
            with program(kit_of(self.options.level), arguments=sys.argv) as made:
                return made.conduct(self, listeners)
        finally:
            if fault := self.fault():
                if (self.folder / RESULT).is_file():
                    lost = {"outcome": Ending.LOST, "reason": fault}
                    self.files.write(RESULT, self.result.model_copy(update=lost))
                raise Lost(fault)

    def fault(self) -> str:
        """Return which process of the launch failed, as the launch says; empty as long as none has."""
        file = self.folder / ENDED
        return file.read_text().strip() if file.is_file() else ""


def _wait() -> int:
    """Wait for goals, and for what is typed on the page where there is one, until interrupted."""
    interrupted = Flag()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: interrupted.set())
    with program(kits()[0], arguments=sys.argv) as made:
        talk, page = made.conversation(), None
        print(READY, flush=True)
        if made.supervisor.view == "web":
            page = background(lambda: talk.on_page(ended=interrupted.is_set))
        while not interrupted.is_set():
            time.sleep(_LOOK_S)
        made.stop()
        if page:
            page.join(_END_S)
    return 0


def session_of(made: Program, listener: Listener) -> Session:
    """A session on the table that the program acts on, with a page where its parameters say so."""
    from spca.sessions import SENTENCE, Session

    view = "web" if made.supervisor.view == "web" else False
    wanted = {"level": SENTENCE, "rewind": False, "transport": "ros", "video": False, "view": view}
    options = checked(RunOptions, **{**made.supervisor.defaults, **wanted})
    return Session(options, kits()[0], listener, report=False, program=made)


def _alone(kind: type[PlannerNode | CoderNode], stage: str) -> None:
    """Run a node of that kind, with the stage of a run with its parameters."""
    with ExitStack() as stack:

        def made() -> list[SpcaNode]:
            node = kind()
            proposer = node.parameter("proposer", "builtin", "who drafts: builtin or openai")
            folder = Path(stack.enter_context(scratch("node")))
            options = RunOptions(level="stack_01", proposer=proposer)
            opened = stack.enter_context(open_stages(options, kits()[0], RunFolder(folder)))
            setattr(node, stage, getattr(opened, stage))
            return [node]

        status = run_nodes(made)
    leave(status)


planner, coder = partial(_alone, PlannerNode, "planner"), partial(_alone, CoderNode, "coder")
"""The programs of the planner's node alone, and of the coder's."""

if __name__ == "__main__":
    main()
