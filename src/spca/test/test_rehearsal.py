"""When a plan is rehearsed, how tries are judged, and what is concluded from them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from spca.rehearsal.critic import Critic
from spca.rehearsal.rehearsal import SampledRehearsal, Settings, ruling
from spca.report import write_report
from spca.stages import Rehearsing
from spca.state import RunState
from spca_coder.source import LibraryReader
from spca_core.geometry import Pose
from spca_core.options import Budgets
from spca_core.plan import ActResult, Choice, Draft, Fault, Moment, Plan, Rehearsed, Task
from spca_core.ports.reading import Readers
from spca_core.ports.vocabulary import Extension, Vocabulary
from spca_core.result import RehearsalCounts
from spca_core.run_folder import RunFolder
from spca_core.scene import Fact, Observation, Scene
from spca_core.skill import SkillFailure, StepReport
from spca_planner.prediction import PddlReader
from spca_testing.models.fallible_model import FallibleModel, miswritten
from spca_testing.models.model_run import run_with_model
from spca_testing.observations import plan_of, thing

OBJECTS = {"a": "cube", "b": "cube", "c": "cube", "table": "table"}
DRAFT = Draft(
    domain="""(define (domain d) (:requirements :strips) (:constants table)
      (:predicates (on ?x ?y) (shiny ?x))
      (:action put :parameters (?x ?y) :precondition ()
        :effect (and (on ?x ?y) (shiny ?x) (not (on ?x table)))))""",
    problem="""(define (problem p) (:domain d) (:objects a b c)
      (:init (on a table) (on b table) (on c table)) (:goal (on a b)))""",
)
PLAN = plan_of("put a b", draft=DRAFT)


class Words(Vocabulary):
    """What is on what can be seen, and nothing else."""

    def after(self, observation):
        things = frozenset({"cube"}), frozenset({"cube", "table"})
        return {"on": Extension(things, frozenset(f.args for f in observation.facts))}


def seen(**on: str) -> Observation:
    facts = tuple(Fact(predicate="on", args=item) for item in on.items())
    return Observation(stamp=0.0, objects=OBJECTS, facts=facts, sentences=())


def step(status: Literal["done", "failed", "cancelled"] = "done") -> StepReport:
    why = SkillFailure(kind="unreachable", message="too far") if status == "failed" else None
    return StepReport(
        index=0, action="put", args=("a", "b"), status=status, started=0, ended=1, wall_seconds=0, failure=why
    )


START = Moment(phase="start", observation=seen(a="table", b="table", c="table"))
DONE = seen(a="b", b="table", c="table")


@pytest.mark.parametrize(
    ("moment", "kind", "words"),
    [
        (Moment(step=step(), observation=DONE), None, ""),
        (Moment(step=step("failed"), observation=DONE), "status", "unreachable: too far"),
        (Moment(step=step("cancelled"), observation=START.observation), None, ""),
        (Moment(step=step(), observation=START.observation), "effect", "expected (on a b), (not (on a"),
        (Moment(step=step(), observation=DONE, displaced={"c": 0.03}), "frame", "c moves by 3 cm"),
        (Moment(step=step(), observation=DONE, displaced={"c": 0.005, "a": 0.3, "b": 0.02}), None, ""),
        (Moment(step=step(), observation=seen(a="b", b="table", c="a")), "frame", "on(c, "),
        (Moment(step=step(), observation=DONE, lost=("c",)), "frame", "c is then out of reach"),
        (Moment(step=step(), observation=DONE, unsafe=("the arm touches itself",)), "safety", "itself"),
        (Moment(phase="rest", observation=START.observation), "goal", "the goal (on a b) does not hold"),
    ],
)
def test_a_moment_is_judged_by_what_the_plan_declares(moment: Moment, kind: str | None, words: str) -> None:
    """What nothing can show, like being shiny, is not judged."""
    critic = Critic(PLAN, Words())
    assert critic.judge(START) is None
    fault = critic.judge(moment)
    assert (fault and fault.kind) == kind
    assert fault is None or (words in fault.sentence and "step 1 put(a, b)" in fault.sentence)


def test_a_plan_has_to_reach_its_goal_without_steps_too_and_blames_no_skill_that_never_promised_it() -> None:
    rest = Moment(phase="rest", observation=START.observation)
    fault = Critic(PLAN.model_copy(update={"steps": ()}), Words()).judge(rest)
    assert fault is not None and fault.kind == "goal" and "without any step" in fault.sentence
    rest = Moment(phase="rest", observation=seen(a="c"))
    fault = Critic(plan_of("put a c", draft=DRAFT), Words()).judge(rest)
    assert fault is not None and fault.action == ""


def fault(kind: str, at: int = 0) -> Fault:
    return Fault.model_validate({"kind": kind, "step": at, "action": "put", "sentence": ""})


BAD, ELSEWHERE = fault("effect"), fault("effect", 1)


@pytest.mark.parametrize(
    ("tries", "status"),
    [
        ([None, None, None], "accepted"),
        ([BAD, BAD], "rejected"),
        ([BAD, ELSEWHERE, fault("status")], None),
        ([BAD, None, None, None, None], "accepted"),
        ([BAD, None, ELSEWHERE, None, None], "doubtful"),
    ],
)
def test_rulings(tries: list[Fault | None], status: str | None) -> None:
    """Three in a row, or four of five; two of one kind are too many; one exact try decides."""
    assert ruling(tries, 5) == status
    assert ruling([BAD], 1) == "rejected" and ruling([None], 1) == "accepted"


NEAR, FAR = (Choice(call="grasps", args=("a",), values=(x,)) for x in (0.1, 0.2))


class Played:
    """A twin in which a step moves nothing, unless the plan chooses FAR."""

    certain, vocabulary = False, Words()

    def refusal(self, observation: Observation) -> str:
        return ""

    def play(self, plan, library, observation, perturbation, go_on, *_: object) -> tuple[ActResult, float]:
        end = Moment(step=step(), observation=DONE if FAR in plan.choices else START.observation)
        all(map(go_on, (START, end)))
        return ActResult(attempt="", status="done", steps=()), 10.0

    def alternatives(self) -> Sequence[Sequence[Choice]]:
        return ((NEAR, FAR),)

    def record(self, folder: Path, name: str) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("choose", "others", "simulated_s", "status", "choices", "tries"),
    [
        (True, (), 120.0, "accepted", (FAR,), 6),
        (True, (PLAN, PLAN), 120.0, "accepted", (FAR,), 8),
        (True, (), 40.0, "rejected", None, 4),
        (False, (), 120.0, "rejected", None, 2),
    ],
)
def test_what_goes_well_takes_the_place_of_a_plan_that_does_not(
    choose: bool, others: tuple[Plan, ...], simulated_s: float, status: str, choices: object, tries: int
) -> None:
    """Where other choices are to be tried and there is time, and until it is judged as the plan was."""
    rehearsal = SampledRehearsal(Played, Settings(choose=choose))
    found = rehearsal.try_out("1", PLAN, "", START.observation, simulated_s, others=lambda: others)
    assert (found.status, found.simulated) == (status, 10.0 * tries)
    assert (found.instead and found.instead.choices) == choices


# --- when a run rehearses -----------------------------------------------------------------------------------

FAULT = Fault(kind="effect", step=0, action="touch", sentence="step 1 touch(a): nothing happens")
REJECTED = Rehearsed(
    attempt="1", status="rejected", sentence="no", fault=FAULT, suspects=("touch",), seconds=2.0
)
STATE = RunState(
    observation=Observation(stamp=0.0, objects={}, facts=(), sentences=()),
    plan=plan_of("touch a"),
    library="def touch(ctx, a):\n    pass\n",
)  # fmt: skip
NEW = replace(STATE, written=("touch",))
LOW = thing("a", Pose(position=(0, 0, 0)), kind="cube", confidence=0.3)
SCENE = Scene(stamp=0.0, objects=(LOW,), relations=(), sentences=())
GLIMPSED = replace(STATE, observation=STATE.observation.model_copy(update={"scene": SCENE}))
TASK = Task(id="touch_01", group="touch", title="Touch it", description="")


class Rejects:
    """A rehearsal that rejects everything, and says how much time it was given."""

    def __init__(self) -> None:
        self.given: list[float] = []
        self.answer = REJECTED

    def try_out(self, attempt, plan, library, observation, simulated_s, cancelled, others) -> Rehearsed:
        self.given.append(simulated_s)
        return self.answer

    def record(self, folder: Path, name: str) -> None: ...

    def close(self) -> None: ...


def rehearsing(when: str = "auto") -> Rehearsing:
    readers = Readers(PddlReader(Vocabulary()), LibraryReader())
    return Rehearsing(Rejects, when, Budgets(rehearsal_s=3.0, rehearsals_s=5.0), readers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("when", "state", "wanted"),
    [
        ("auto", STATE, False),
        ("auto", NEW, True),
        ("auto", GLIMPSED, True),
        ("always", STATE, True),
        ("never", NEW, False),
    ],
)
def test_by_default_what_is_new_or_hardly_seen_is_rehearsed(when: str, state: RunState, wanted: bool) -> None:
    assert rehearsing(when).wanted(state) is wanted


def test_a_trusted_plan_that_is_rejected_twice_alike_is_carried_out() -> None:
    tries = rehearsing("always")
    assert not tries.try_out("1", TASK, STATE, lambda: False).overruled
    again = STATE.objecting(tries.objection(STATE, REJECTED))
    assert tries.try_out("2", TASK, again, lambda: False).overruled
    elsewhere = replace(again, plan=STATE.plan.model_copy(update={"steps": STATE.plan.steps * 2}))
    assert not tries.try_out("3", TASK, elsewhere, lambda: False).overruled


def test_what_is_rejected_for_safety_is_never_carried_out() -> None:
    tries = rehearsing("always")
    unsafe = REJECTED.model_copy(update={"fault": FAULT.model_copy(update={"kind": "safety"})})
    tries.rehearsal.answer = unsafe
    state = STATE
    for attempt in "123":
        assert not tries.try_out(attempt, TASK, state, lambda: False).overruled
        state = state.objecting(tries.objection(state, unsafe))


def test_the_time_of_a_level_is_shared_by_its_rehearsals() -> None:
    tries = rehearsing()
    for spent, given in ((0.0, 3.0), (4.0, 1.0)):
        tries.try_out("1", TASK, replace(NEW, rehearsal=RehearsalCounts(simulated=spent)), lambda: False)
        assert tries.rehearsal.given[-1] == pytest.approx(given)
    over = tries.try_out("1", TASK, replace(NEW, rehearsal=RehearsalCounts(simulated=5.0)), lambda: False)
    assert over.status == "unfinished" and len(tries.rehearsal.given) == 2


@pytest.mark.slow
def test_a_faulty_skill_is_repaired_before_the_arm_moves(tmp_path: Path) -> None:
    """The only real attempt is the one that succeeds; the report shows what was caught."""
    forgets = miswritten("ctx.close()\n        ctx.move_linear(above)", "ctx.move_linear(above)")
    run = run_with_model("stack_01", FallibleModel(coder=[forgets]), tmp_path, rehearse="auto")
    result = run.result
    assert result.success and result.attempts == 1 and result.coder.semantic == 1, result.reason
    assert (result.rehearsal.plans, result.rehearsal.rejected) == (2, 1)
    assert len(list(run.folder.glob("round_1/try_*.states.npz"))) == 1
    page = write_report(RunFolder(run.folder)).read_text()
    assert "rejected" in page and "closed on nothing" in page
