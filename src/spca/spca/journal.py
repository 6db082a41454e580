"""The journal of a run: its state before every phase, each stage's result, events, and the final result."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, FiniteFloat

from spca.state import Phase, RunState, SavedState
from spca_core.model import Record
from spca_core.plan import DraftRecord, Rehearsed
from spca_core.ports.environment import Environment
from spca_core.ports.stages import Rehearsal
from spca_core.result import UNFINISHED, Ending, Promotion, RunResult, SkillCounts, Usage
from spca_core.run_folder import CHECKPOINT, STATE, RunFolder
from spca_core.skill import StepReport, python_name

EventKind = Literal[
    "run_started", "stage_started", "stage_ended", "draft", "doubt", "plan", "code", "rehearsal",
    "question", "step", "verdict", "round_failed", "run_ended",
]  # fmt: skip


class Event(Record):
    """One event: `wall` in seconds since the run began, `sim` in simulated seconds of the level."""

    kind: EventKind
    wall: FiniteFloat
    sim: FiniteFloat
    stage: str = ""
    text: str = ""
    data: dict[str, Any] = {}


Listener = Callable[[Event], None]


PLAN_CHECKPOINT = "plan_checkpoint.bin"


class Journal:
    """The records of one run in its folder; `listeners` hear of every event, too."""

    def __init__(
        self, environment: Environment, folder: RunFolder, listeners: tuple[Listener, ...] = ()
    ) -> None:
        self._env, self._folder = environment, folder
        self._listeners = (folder.append, *listeners)
        self._began = time.monotonic()
        self._sim_began = environment.verdict().stamp  # a session's clock goes on from run to run

    @property
    def wall(self) -> float:
        """Wall time since the run began in seconds, without interruptions."""
        return time.monotonic() - self._began

    def save(self, state: RunState) -> None:
        """Write the run's state and a checkpoint of the world into the folder."""
        self._folder.write_sealed(CHECKPOINT, self._env.checkpoint())
        self.save_end(state.at(self.wall))

    def save_end(self, state: RunState) -> None:
        """Write the run's state into the folder; the world's last checkpoint stays."""
        self._folder.write_sealed(STATE, SavedState(state))

    def recall(self) -> RunState | None:
        """Restore the world and return the state of the folder's run; None for a run that never began.

        Only the referee says how a level went: a judged end that its record does not show is judged again,
        from before the phase that ended. Raises InputError for files that this checkout has not written.
        """
        if self._folder.read_sealed(STATE) is None:
            return None
        state = self._folder.read(STATE, SavedState).root
        checkpoint = self._folder.read_sealed(CHECKPOINT)
        if checkpoint:
            self._env.restore(checkpoint)
        elif checkpoint is not None:  # of a world that cannot be put back
            state = state.going_on(Phase.SENSE)
        verdict = self._env.verdict()
        if state.ended is not None and state.ended.judged and state.ended.value != verdict.outcome.value:
            state = state.going_on(Phase.ACT if state.plan else Phase.SENSE)
        self._began = time.monotonic() - state.wall
        return state

    def mark_plan_start(self) -> None:
        """Write a checkpoint of the world as it is now, to try the plan again from here."""
        self._folder.write_sealed(PLAN_CHECKPOINT, self._env.checkpoint())

    def back_to_plan_start(self) -> bool:
        """Put the world back to where the plan began; return whether that could be done."""
        checkpoint = self._folder.read_sealed(PLAN_CHECKPOINT)
        if checkpoint:
            self._env.restore(checkpoint)
        return bool(checkpoint)

    def attempt(self, state: RunState) -> str:
        """Return the name of a stage's call: the run's name, its round and the number of the call."""
        return f"{self._folder.path.name}/{state.round}.{state.attempt}"

    def keep(self, state: RunState, kind: str, result: BaseModel) -> None:
        """Write a stage's result into the folder of its round: `plan_3.json`."""
        self._folder.write(f"round_{state.round}/{kind}_{state.attempt}.json", result)

    def keep_look(self, state: RunState, observation: BaseModel) -> None:
        """Write what was seen at the beginning of a round."""
        self._folder.write(f"round_{state.round}/observation.json", observation)

    def conclude(
        self, state: RunState, promotion: Promotion, usage: Callable[[], dict[str, Usage]]
    ) -> RunResult:
        """Write the result of a run that has ended, and the library it ended with; return the result."""
        assert state.ended is not None
        verdict = self._env.verdict()
        outcome = state.ended
        if verdict.final and not outcome.judged and outcome not in UNFINISHED:
            outcome = Ending(verdict.outcome.value)
        used = dict.fromkeys(python_name(s.action) for s in state.plan.steps) if state.plan else ()
        reused = tuple(name for name in used if name not in state.written)
        result = RunResult(
            level=self._env.task.id,
            outcome=outcome,
            verdict=verdict,
            rounds=state.round,
            sim=verdict.stamp - self._sim_began,
            usage=usage(),
            skills=SkillCounts(reused=reused, written=state.written, **dict(promotion)),
            **{name: value for name, value in vars(state).items() if name in RunResult.model_fields},
        )
        self._folder.write("library.py", state.library)
        self._folder.write("result.json", result)  # the last one: a run that has a result has ended
        said = {"outcome": outcome.value, "score": verdict.score, "words": result.words}
        self.publish("run_ended", text=state.reason, data=said)
        return result

    def publish(
        self, kind: EventKind, stage: str = "", text: str = "", data: dict[str, Any] | None = None
    ) -> None:
        """Log an event and pass it to the listeners."""
        sim = self._env.verdict().stamp
        event = Event(kind=kind, wall=self.wall, sim=sim, stage=stage, text=text, data=data or {})
        for listener in self._listeners:
            listener(event)

    def publish_draft(self, draft: DraftRecord) -> None:
        """Publish that a draft of a plan has been accepted, or which critic rejected it and why."""
        rejection = draft.rejection
        text = f"{rejection.critic}: {rejection.message}" if rejection else "accepted"
        self.publish(
            "draft", stage="plan", text=text, data={"mode": draft.mode, "accepted": rejection is None}
        )

    def publish_rehearsal(self, state: RunState, rehearsed: Rehearsed, rehearsal: Rehearsal) -> None:
        """Write and publish the rehearsal of a plan, and record what the first failing try looked like."""
        self.keep(state, "rehearsal", rehearsed)
        if rehearsed.status == "rejected" or rehearsed.instead is not None:
            rehearsal.record(self._folder.path / f"round_{state.round}", f"try_{state.attempt}")
        data = {"share": rehearsed.share, "tries": len(rehearsed.tries), "overruled": rehearsed.overruled}
        text = f"{rehearsed.status}: {rehearsed.sentence}"
        self.publish("rehearsal", stage=state.phase.value, text=text, data=data)

    def publish_step(self, step: StepReport) -> None:
        """Publish that a step has ended."""
        self.publish("step", stage="act", text=str(step), data=step.model_dump())
