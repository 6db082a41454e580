"""Reuse has a way out, the vocabulary is told and checked, and no question is asked twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel

from spca.no_repeats import NoRepeats
from spca_core.plan import Draft, Execution, PlanRequest
from spca_core.ports.chat import ChatReply, Message, Role
from spca_core.ports.proposer import Misfit, ModelError
from spca_core.scene import Fact
from spca_core.skill import SkillSignature
from spca_planner.critics.synonyms import with_synonyms
from spca_planner.language import LanguageProposer, messages
from spca_planner.pddl.syntax import parse_domain
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import SolverProcess
from spca_planner.trusted import TrustedDomains, action_schemas
from spca_tabletop.language.examples import scene, task
from spca_tabletop.plan.problem import domain
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary

WORDS = TabletopVocabulary().words()
TASK = task("Put the red cube on the blue plate.", group="pick_and_place")


class Script:
    """A chat model that gives prepared answers and notes what it was asked."""

    def __init__(self, answers: Sequence[dict[str, str] | ModelError]) -> None:
        self.answers, self.asked = list(answers), []

    def complete(
        self, role: Role, messages: Sequence[Message], schema: type[BaseModel] | None = None
    ) -> ChatReply:
        self.asked.append((schema.__name__ if schema else "", str(messages[-1]["content"])))
        answer = self.answers.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        assert schema is not None
        return ChatReply(text=json.dumps(answer), parsed=schema.model_validate(answer))


def request(**values: object) -> PlanRequest:
    return PlanRequest.model_validate(
        {"attempt": "a", "task": TASK, "observation": scene(), "skills": (), **values}
    )


# --- a trusted domain that does not fit ---------------------------------------------------------------------


def test_a_domain_that_does_not_fit_may_be_said_so() -> None:
    chat = Script([{"this_domain_does_not_fit_because": "it cannot put anything on a plate"}])
    with pytest.raises(Misfit, match="on a plate"):
        LanguageProposer(chat).draft(request(mode="reuse"), Draft(domain="(define)", problem=""), None)
    assert chat.asked[0][0] == "ProblemDraft"


def test_then_both_files_are_asked_for(tmp_path: Path) -> None:
    """The trusted domain of the group can only touch.

    The next request shows it as an example, with the reason why it was refused.
    """
    trusted = TrustedDomains(tmp_path)
    touch = (
        "(define (domain d) (:predicates (touched ?x)) (:action touch :parameters (?x) :effect (touched ?x)))"
    )
    trusted.add("tabletop", TASK, touch)
    good = BuiltinProposer().draft(request(), None, None)
    answers = [
        {"this_domain_does_not_fit_because": "nothing can be put anywhere"},
        {"domain": good.domain, "problem": good.problem},
    ]
    chat = Script(answers)
    with SolverProcess() as solver:
        planner = DraftingPlanner(
            "tabletop", LanguageProposer(chat), trusted, TabletopVocabulary(), solver=solver
        )
        result = planner.plan(request())
    assert result.status == "solved", result.message
    assert [(d.mode, d.rejection is None) for d in result.drafts] == [("reuse", False), ("fresh", True)]
    assert [kind for kind, _ in chat.asked] == ["ProblemDraft", "WholeDraft"]
    assert "nothing can be put anywhere" in chat.asked[1][1]
    assert "An example: this domain has solved" in chat.asked[1][1]


def test_skills_come_with_their_whole_schemas() -> None:
    skills = (SkillSignature(name="place_on", parameters=("cube", "plate"), doc="Put it down."),)
    text = messages(request(skills=skills), None, None, WORDS, action_schemas([domain()]))[1]["content"]
    assert "(:action place_on" in text
    assert ":effect (and (not (holding ?c)) (hand_empty) (on ?c ?p)" in " ".join(text.split())


# --- words --------------------------------------------------------------------------------------------------


def test_everything_observable_is_told_whether_it_holds_or_not() -> None:
    text = messages(request(), None, None, WORDS)[1]["content"]
    for words in (
        "(hand_empty): the gripper holds nothing",
        "(held ?cube)",
        "(next_to ?a ?b)",
        "not handempty, gripper_empty",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("predicate", "meant", "fault"),
    [
        ("(gripper_empty)", "hand_empty", ""),
        ("(robot_hand_free)", "hand_empty", ""),
        ("(is_holding ?c)", "held", ""),
        ("(rests_on ?a ?b)", "on", ""),
        ("(adjacent_to ?a ?b)", "next_to", ""),
        ("(gripper_empty ?g)", "", "seems to mean what is observed as (hand_empty)"),
        ("(holding ?g ?c)", "", "(held ?cube)"),
        ("(painted ?c)", "", ""),
    ],
)
def test_a_synonym_is_mapped_or_refused(predicate: str, meant: str, fault: str) -> None:
    found = parse_domain(
        f"(define (domain d) (:predicates {predicate}) (:action a :parameters () :effect {predicate}))"
    )
    extensions = TabletopVocabulary().extensions(scene())
    known, faults = with_synonyms(found, WORDS, extensions)
    name = predicate.strip("()").split()[0]
    if meant:
        assert known[name] == extensions[meant]
    assert bool(faults) == bool(fault)
    if fault:
        assert fault in faults[0]


# --- what is asked, and how often ---------------------------------------------------------------------------


def test_a_replan_shows_what_was_done_predicted_and_seen() -> None:
    executed = Execution(
        steps=("1. place_on(cube_red, plate_blue): done",),
        predicted=("(on cube_red plate_blue)",),
        seen=(Fact(predicate="on", args=("cube_red", "table")),),
    )
    draft = Draft(domain="(define)", problem="(define)")
    text = messages(request(mode="replan", failure="it fell", executed=executed), draft, None)[1]["content"]
    for words in (
        "place_on(cube_red, plate_blue): done",
        "(on cube_red plate_blue)",
        "on(cube_red, table)",
        "it fell",
    ):
        assert words in text


def test_the_same_question_is_not_asked_twice() -> None:
    unusable = ModelError("no", "refused")
    chat = Script([ModelError("busy", "busy"), {"domain": "(", "problem": "("}, unusable, unusable])
    asking = LanguageProposer(NoRepeats(chat))
    with pytest.raises(ModelError, match="busy"):
        asking.draft(request(), None, None)
    asking.draft(request(), None, None)  # it was not answered, so it may be asked again
    with pytest.raises(ModelError, match="answered before"):
        asking.draft(request(), None, None)
    for _ in range(2):  # what the first answer was no use for, the second may serve
        with pytest.raises(ModelError, match="no"):
            asking.draft(request(failure="something new"), None, None)
    with pytest.raises(ModelError, match="answered before"):
        asking.draft(request(failure="something new"), None, None)
    assert len(chat.asked) == 4
