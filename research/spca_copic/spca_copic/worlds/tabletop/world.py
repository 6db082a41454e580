"""The world `tabletop`: levels on shuffled tables, actions by the built-in skills, judged by the referee."""

from __future__ import annotations

from pathlib import Path
from random import Random

from pydantic import ConfigDict

from spca_copic.remembered import RememberedWorld
from spca_core.errors import InputError, MotionError, SpcaError
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.plan import Draft, Plan, Step
from spca_core.ports.environment import Environment
from spca_core.scene import Observation
from spca_core.skill import StepReport
from spca_core.skill_package import library_source
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
from spca_programs.ports.plan_world import PlanWorld
from spca_tabletop.kit import build_tabletop

TASKS: dict[str, tuple[str, ...]] = {
    "lift": tuple(f"pickup_0{n}" for n in range(2, 8)),
    "pick_and_place": tuple(f"pick_and_place_0{n}" for n in range(1, 6)),
    "stack_three": tuple(f"stack_0{n}" for n in range(4, 9)),
    "stack": tuple(f"stack_0{n}" for n in range(1, 9)),
}
"""The levels of each task type. Lift, pick-and-place and a stack of three resemble those of robosuite."""
_GOALS = {
    "lift": "Lift the one cube that the task means off the table and keep it in the gripper.",
    "pick_and_place": "Put the cube that the task names on the plate that it names.",
    "stack_three": "Build a tower of three cubes, in the order that the task tells.",
    "stack": "Put cubes on each other, in the order that the task tells.",
}

_ACTIONS = (
    ActionKind(
        name="pick_up",
        parameters=("cube", "from"),
        about="grasp a cube that nothing lies on and lift it off what it rests on",
    ),
    ActionKind(name="place_on", parameters=("cube", "plate"), about="put the held cube down on a plate"),
    ActionKind(name="stack_on", parameters=("cube", "base"), about="put the held cube down on another cube"),
    ActionKind(name="place_on_table", parameters=("cube",), about="put the held cube down on free table"),
    ActionKind(
        name="place_next_to",
        parameters=("cube", "other"),
        about="put the held cube on the table, touching another",
    ),
    ActionKind(name="touch", parameters=("thing",), about="touch a thing from above with closed fingers"),
)
_ACTION_COST = 0.02
_DECISIONS = 6
"""Plans of an episode."""
_TEST_SEEDS = 1_000_000
"""Seeds from this one on are for tests; training draws below it."""


class _Checkpoint(Record):
    """State that `TabletopWorld.checkpoint` keeps."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    case: Case
    environment: bytes
    """See `spca_core.ports.environment.Environment.checkpoint`."""
    seen: Observation
    decisions: int
    over: bool
    score: float


class TabletopWorld:
    """See `spca_programs.ports.plan_world.PlanWorld`. Cases are levels on tables drawn by seed.

    Actions are skills of the arm, observations symbols and facts. Reward: 1 for success, half the growth of
    the referee's score, less 0.02 an action.
    """

    name, tasks = "tabletop", tuple(TASKS)
    cases = 80
    returns = True

    def __init__(self) -> None:
        self._environment: Environment | None = None
        self._case: Case | None = None
        self._seen: Observation | None = None
        self._decisions, self._over, self._score = 0, True, 0.0

    def split(self, task: str, train: int, seen: int, unseen: int, seed: int) -> Split:
        """The task type's levels in turn, each with a seed of its own; no training draws a test's seed."""
        require_task(task, TASKS, self.name)
        levels = TASKS[task]
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
        require_task(task, TASKS, self.name)
        return read_briefing(Path(__file__).parent, task, _GOALS[task], "Touch the red plate.")

    def reset(self, case: Case) -> Situation:
        """Build the environment and look."""
        if case.name not in TASKS.get(case.task, ()):
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
            library = library_source(environment.name, environment.builtin_skills)
            result = environment.act(str(self._decisions), request, library)
            done = len(result.steps)
            remarks = [_remark(s) for s in result.steps if s.status == "failed"] or remarks
        self._decisions += 1
        verdict = environment.settle()
        if not verdict.final:
            try:
                self._seen = environment.sense()
            except MotionError as error:  # the arm cannot leave the camera's view: what was seen last remains
                remarks.append(Remark(kind="precondition", text=f"no new look: {error}"))
            verdict = environment.verdict()
        success = verdict.outcome is Outcome.SUCCESS
        late = not verdict.final and self._decisions >= _DECISIONS
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
        """The table with its simulator, camera, arm and referee, in this process."""
        self.close()
        options = RunOptions(level=case.name, seed=case.seed, preset="shuffled", transport="inproc")
        self._environment, self._case = build_tabletop(options), case

    def _running(self) -> Environment:
        if self._environment is None:
            raise SpcaError("no episode has begun: reset first")
        return self._environment

    def _steps(self, plan: ActionSequence) -> tuple[list[Step], list[Remark]]:
        """The actions up to the first that makes no sense, and what is wrong with that one."""
        steps: list[Step] = []
        kinds = {kind.name: kind for kind in _ACTIONS}
        for action in plan:
            name, *arguments = action.split() or [""]
            kind = kinds.get(name)
            if kind is None or len(arguments) != len(kind.parameters):
                return steps, [Remark(kind="not_found", text=f"there is no action '{action[:60]}'")]
            unknown = [a for a in arguments if a not in self._objects() and a != "table"]
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
            actions=_ACTIONS,
            text=" ".join(seen.sentences),
        )


def _remark(report: StepReport) -> Remark:
    """A failed step as a remark. A motion without a path lacks a precondition; others changed nothing."""
    kind: FailureKind = "no_effect"
    failure = report.failure.kind if report.failure is not None else ""
    if failure in ("collision", "unreachable") or " no " in f" {report.message}":
        kind = "precondition"
    elif failure == "argument":
        kind = "not_found"
    return Remark(kind=kind, text=f"{report.action} {' '.join(report.args)}: {report.message}")


def open_tabletop() -> PlanWorld:
    """The table that remembers what each plan led to: a look and a motion take half a second each."""
    return RememberedWorld(TabletopWorld())
