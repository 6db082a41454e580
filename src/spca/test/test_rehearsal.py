"""How tries are judged, and what is concluded from them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pytest

from spca.rehearsal.critic import Critic
from spca.rehearsal.rehearsal import SampledRehearsal, Settings, ruling
from spca_core.plan import ActResult, Choice, Draft, Fault, Moment, Perturbation, Plan
from spca_core.ports.vocabulary import Extension, Vocabulary
from spca_core.scene import Fact, Observation
from spca_core.skill import SkillFailure, StepReport
from spca_core.stopping import Stop, never
from spca_testing.observations import plan_of

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
        (
            Moment(step=step(), observation=START.observation),
            "effect",
            "expected (on a b), (not (on a table))",
        ),
        (Moment(step=step(), observation=DONE, displaced={"c": 0.03}), "frame", "c moves by 3 cm"),
        (Moment(step=step(), observation=DONE, displaced={"c": 0.005, "a": 0.3, "b": 0.02}), None, ""),
        (Moment(step=step(), observation=DONE, displaced={"b": 0.05}), "frame", "b moves by 5 cm"),
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


def test_without_the_frame_rule_bystanders_may_move() -> None:
    critic = Critic(PLAN, Words(), checks_unmentioned=False)
    assert critic.judge(START) is None
    assert critic.judge(Moment(step=step(), observation=DONE, displaced={"c": 0.03})) is None


def fault(kind: str, at: int = 0) -> Fault:
    return Fault.model_validate({"kind": kind, "step": at, "action": "put", "sentence": ""})


BAD, ELSEWHERE = fault("effect"), fault("effect", 1)


@pytest.mark.parametrize(
    ("tries", "status"),
    [
        ([None, None], None),
        ([None, None, None], "accepted"),
        ([BAD], None),
        ([BAD, BAD], "rejected"),
        ([BAD, ELSEWHERE, fault("status")], None),
        ([BAD, None, None, None], None),
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

    def play(
        self,
        plan: Plan,
        library: str,
        observation: Observation,
        perturbation: Perturbation,
        go_on: Callable[[Moment], bool],
        cancelled: Stop = never,
    ) -> tuple[ActResult, float]:
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
