"""A world on an `Environment` of the project: actions are its skills, observations its symbols and facts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from random import Random

from pydantic import ConfigDict

from spca_core.errors import InputError, MotionError, SpcaError
from spca_core.model import Record
from spca_core.observation import Observation
from spca_core.plan import Draft, Plan, Step
from spca_core.ports.environment import Environment
from spca_core.skill import StepReport
from spca_core.validation import expecting
from spca_core.verdict import Outcome
from spca_programs.grammar import read_briefing
from spca_programs.plan_world import (
    ActionKind,
    ActionSequence,
    Briefing,
    Case,
    FailureKind,
    Remark,
    Situation,
    Split,
    Transition,
    require_task,
)

_ACTION_COST = 0.02
_TEST_SEEDS = 1_000_000
"""Seeds from this one on are for tests; training draws below it."""


class _Checkpoint(Record):
    """What `EnvironmentWorld.checkpoint` keeps."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    case: Case
    environment: bytes
    """See `spca_core.ports.environment.Environment.checkpoint`."""
    seen: Observation
    decisions: int
    over: bool
    score: float


class EnvironmentWorld(ABC):
    """See `spca_programs.ports.plan_world.PlanWorld`.

    Reward: 1 for success, half the growth of the referee's score, less 0.02 an action.
    """

    name: str
    cases = 20
    returns = True
    levels: Mapping[str, tuple[str, ...]]
    """The levels of each task type."""
    goals: dict[str, str]
    """What is asked for in each task type, in words."""
    actions: tuple[ActionKind, ...]
    folder: Path
    """Where `api.md`, `example.py` and `fragments.py` are."""
    example_task: str
    decisions: int
    """Plans of an episode."""
    places: tuple[str, ...] = ()
    """Arguments that are always there and in no observation."""

    def __init__(self) -> None:
        self.tasks = tuple(self.levels)
        self._environment: Environment | None = None
        self._case: Case | None = None
        self._seen: Observation | None = None
        self._decisions, self._over, self._score = 0, True, 0.0

    @abstractmethod
    def build(self, case: Case) -> Environment:
        """The environment of a case: level `case.name` with `case.seed`."""

    def split(self, task: str, train: int, seen: int, unseen: int, seed: int) -> Split:
        """The task type's levels in turn, each with a seed of its own; no training draws a test's seed."""
        levels = self._levels(task)
        rng = Random(f"{task}/{seed}")
        numbers = rng.sample(range(_TEST_SEEDS), train + seen)
        tests = rng.sample(range(_TEST_SEEDS, 2 * _TEST_SEEDS), unseen)

        def cases(seeds: list[int]) -> tuple[Case, ...]:
            return tuple(
                Case(task=task, name=levels[k % len(levels)], seed=seed) for k, seed in enumerate(seeds)
            )

        return Split(train=cases(numbers[:train]), seen=cases(numbers[train:]), unseen=cases(tests))

    def briefing(self, task: str) -> Briefing:
        """The skills, and a program for a simpler task."""
        self._levels(task)
        return read_briefing(self.folder, task, self.goals[task], self.example_task)

    def reset(self, case: Case) -> Situation:
        """Build the environment and look."""
        if case.name not in self.levels.get(case.task, ()):
            raise InputError(f"no case of {self.name}: {case.task}/{case.name}")
        self._build(case)
        environment = self._running()
        self._seen = environment.sense()
        self._decisions, self._over, self._score = 0, False, environment.verdict().score
        return self._situation()

    def step(self, plan: ActionSequence) -> Transition:
        """Carry out the actions up to the first that fails, let the world come to rest, and look."""
        if self._over:
            raise SpcaError("the episode is over: reset first")
        environment = self._running()
        steps, remarks = self._steps(plan)
        done = 0
        if steps:
            request = Plan(steps=tuple(steps), schemas=(), draft=Draft(domain="", problem=""))
            library = environment.builtin_skills.read_text(encoding="utf-8")
            result = environment.act(str(self._decisions), request, library)
            done = len(result.steps)
            remarks = [_remark(s) for s in result.steps if s.status == "failed"] or remarks
        self._decisions += 1
        verdict = environment.settle()
        success = verdict.outcome is Outcome.SUCCESS
        if not verdict.final:
            try:
                self._seen = environment.sense()
            except MotionError as error:  # the arm cannot leave the camera's view: what was seen last remains
                remarks.append(Remark(kind="precondition", text=f"no new look: {error}"))
            verdict = environment.verdict()
            success = verdict.outcome is Outcome.SUCCESS
        late = not verdict.final and self._decisions >= self.decisions
        if verdict.outcome is Outcome.FAIL:
            remarks.append(Remark(kind="violation", text="something happened that ends the task"))
        elif late or verdict.outcome is Outcome.TIMEOUT:
            remarks.append(Remark(kind="step_limit", text=f"not done after {self._decisions} plans"))
        self._over = verdict.final or late
        reward = 0.5 * (verdict.score - self._score) + float(success) - _ACTION_COST * max(1, done)
        self._score = verdict.score
        return Transition(
            situation=self._situation(),
            reward=reward,
            success=success,
            done=self._over,
            remarks=tuple(remarks),
        )

    def checkpoint(self) -> bytes:
        """The environment and the last look, as JSON."""
        environment = self._running()
        assert self._case is not None and self._seen is not None
        saved = _Checkpoint(
            case=self._case,
            environment=environment.checkpoint(),
            seen=self._seen,
            decisions=self._decisions,
            over=self._over,
            score=self._score,
        )
        return saved.model_dump_json().encode()

    def restore(self, checkpoint: bytes) -> Situation:
        """Back to a checkpoint. Raises InputError for anything else: reading one runs no code."""
        with expecting("a checkpoint", self.name):
            saved = _Checkpoint.model_validate_json(checkpoint)
        if self._environment is None or saved.case != self._case:
            self._build(saved.case)
        self._running().restore(saved.environment)
        self._seen, self._decisions = saved.seen, saved.decisions
        self._over, self._score = saved.over, saved.score
        return self._situation()

    def close(self) -> None:
        """End the sandbox of the skills and the world itself."""
        if self._environment is not None:
            self._environment.close()
            self._environment = None
        self._over = True

    # --- helpers --------------------------------------------------------------------------------------------

    def _build(self, case: Case) -> None:
        self.close()
        self._environment, self._case = self.build(case), case

    def _running(self) -> Environment:
        if self._environment is None:
            raise SpcaError("no episode has begun: reset first")
        return self._environment

    def _steps(self, plan: ActionSequence) -> tuple[list[Step], list[Remark]]:
        """The actions up to the first that makes no sense, and what is wrong with that one."""
        steps: list[Step] = []
        kinds = {kind.name: kind for kind in self.actions}
        for action in plan:
            name, *arguments = action.split() or [""]
            kind = kinds.get(name)
            if kind is None or len(arguments) != len(kind.parameters):
                return steps, [Remark(kind="not_found", text=f"there is no action '{action[:60]}'")]
            unknown = [a for a in arguments if a not in self._objects() and a not in self.places]
            if unknown:
                return steps, [Remark(kind="not_found", text=f"{action[:60]}: there is no {unknown[0][:30]}")]
            steps.append(Step(action=name, args=tuple(arguments)))
        return steps, []

    def _objects(self) -> dict[str, str]:
        return self._seen.objects if self._seen is not None else {}

    def _situation(self) -> Situation:
        seen, environment = self._seen, self._running()
        assert seen is not None
        facts = [" ".join((fact.predicate, *fact.args)) for fact in seen.facts]
        return Situation(
            instruction=environment.task.text,
            observation={"objects": dict(seen.objects), "facts": facts, "plans": self._decisions},
            actions=self.actions,
            text=" ".join(seen.sentences),
        )

    def _levels(self, task: str) -> tuple[str, ...]:
        require_task(task, self.levels, self.name)
        return self.levels[task]


def _remark(report: StepReport) -> Remark:
    """A failed step as a remark. A motion without a path lacks a precondition; others changed nothing."""
    kind: FailureKind = "no_effect"
    failure = report.failure.kind if report.failure is not None else ""
    if failure in ("collision", "unreachable") or " no " in f" {report.message}":
        kind = "precondition"
    elif failure == "argument":
        kind = "not_found"
    return Remark(kind=kind, text=f"{report.action} {' '.join(report.args)}: {report.message}")
