"""The node `supervisor`: has levels run and sentences carried out on request, and tells what happens."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spca_interfaces.action import Do, RunLevel
from spca_interfaces.msg import RunEvent
from spca_interfaces.msg import StepReport as StepReportMsg
from spca_interfaces.msg import Verdict as VerdictMsg

from spca.events import Event, Listener
from spca.kits import checked_kit
from spca.runs import Run
from spca_core.errors import InputError, SpcaError
from spca_core.model import checked
from spca_core.options import THINKING, RunOptions, described
from spca_core.ports.kit import Kit
from spca_core.skill import StepReport
from spca_core.verdict import Ending
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.convert.records import to_msg
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, background
from spca_ros.qos import EVERY

if TYPE_CHECKING:
    from spca.ros.program import Program

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

        def tell(event: Event) -> None:
            job.feedback(kind.Feedback(attempt=job.goal.attempt, event=event_msg(event)))

        self._tell = tell
        try:
            run = carry_out(job.goal)
        except Exception as error:
            job.failed, wrong = True, isinstance(error, InputError)  # a client's mistake, not this program's
            self.get_logger().error(str(error) if wrong else traceback.format_exc())
            message = str(error) if isinstance(error, SpcaError) else f"{type(error).__name__}: {error}"
            return kind.Result(message=message, input_error=wrong)
        finally:
            self._tell = lambda event: None
        if isinstance(run, str):  # nothing has been done, and there is no folder
            return kind.Result(outcome=Ending.SUCCESS.value, message=run)
        result = run.result
        job.failed = kind is Do and result.outcome.refused
        folder = "" if kind is Do and result.outcome.refused else str(run.folder)  # is gone
        answer = kind.Result(outcome=result.outcome.value, message=result.reason, run_folder=folder)
        if kind is RunLevel:
            answer.verdict = to_msg(result.verdict, VerdictMsg())
        return answer
