"""Reuse has a way out, the vocabulary is told and checked, and no question is asked twice."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel

from spca_coder.source import read
from spca_core.plan import Draft, Execution, PlanRequest
from spca_core.ports.chat import ChatReply, Message, Role
from spca_core.ports.proposer import Misfit, ModelError
from spca_core.scene import Fact
from spca_core.skill import SkillSignature
from spca_llm.not_in_vain import NotInVain
from spca_planner.critics.synonyms import with_synonyms
from spca_planner.language import LanguageProposer, in_words, messages
from spca_planner.pddl.syntax import parse_domain
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import SolverProcess
from spca_planner.trusted import TrustedDomains, actions_of
from spca_tabletop.kit import TabletopKit
from spca_tabletop.plan.problem import domain
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import scene, task

WORDS = TabletopVocabulary().words()
ACTIONS = actions_of([domain()])
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


def prompt(asked: PlanRequest, previous: Draft | None) -> str:
    """What the planner's model is asked."""
    return str(messages(asked, previous, None, TabletopVocabulary(), ACTIONS)[1]["content"])


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


def test_skills_come_with_what_they_need_and_bring_in_observable_words() -> None:
    """The built-in domain's own bookkeeping (`kept`, `unfit`, `one_place`) means nothing to a model."""
    skills = (
        SkillSignature(name="place_on", parameters=("cube", "plate"), doc="Put it down."),
        SkillSignature(name="touch", parameters=("thing",), doc="Touch it."),
        SkillSignature(name="whistle", parameters=(), doc="Whistle."),
    )
    text = prompt(request(skills=skills), None)
    assert (
        "- place_on(cube, plate): needs (held ?cube) (clear ?plate); "
        "brings (not (held ?cube)) (hand_empty) (on ?cube ?plate)\n" in text
    )
    assert "brings (touched ?thing)\n" in text and "- whistle(): Whistle.\n" in text
    for skill in read(TabletopKit.builtin_skills.read_text()).functions.values():
        if skill.is_skill:
            told = SkillSignature(name=skill.name, parameters=skill.parameters[1:], doc=skill.doc)
            about = in_words(told, ACTIONS[skill.name, len(told.parameters)], WORDS)
            assert not re.search(r"holding|kept|unfit|crowded|abreast|topped|twice|one_place", about), about


def test_what_a_shown_domain_says_is_not_said_again() -> None:
    skills = (SkillSignature(name="place_on", parameters=("cube", "plate"), doc="Put it down."),)
    reuse = prompt(request(mode="reuse", skills=skills), Draft(domain=domain(), problem=""))
    assert "place_on(" not in reuse and reuse.count("(:action place_on\n") == 1
    replan = prompt(request(mode="replan", skills=skills), Draft(domain=domain(), problem=""))
    assert "Existing skills: place_on(cube, plate)\n" in replan


# --- words --------------------------------------------------------------------------------------------------


def test_everything_observable_is_told_whether_it_holds_or_not() -> None:
    text = prompt(request(), None)
    facts = text.partition("facts that hold now: ")[2].partition("\n")[0]
    assert "(hand_empty)" in facts, "init is every observed fact"
    for words in (
        "(hand_empty): the gripper holds nothing",
        "(held ?a)",
        "(in ?a ?b)",
        "(next_to ?a ?b)",
    ):
        assert words in text


def test_what_lies_left_and_near_of_what_is_told_of_all_things() -> None:
    """Not only who is the first of its kind: a task may speak of the cube to the right of another one."""
    seen = scene(row=("cube_red", "cube_blue", "cube_green")).model_copy(update={"restated": True})
    text = prompt(request(observation=seen), None)
    line = next(line for line in text.splitlines() if line.startswith("from left to right"))
    places = [line.index(name) for name in ("cube_red", "cube_blue", "cube_green")]
    assert places == sorted(places) and "cube_blue = plate_" in line and "where equally far" in line
    assert "leftmost" not in text
    told = prompt(request(observation=seen.model_copy(update={"restated": False})), None)
    assert "from left to right" not in told and "(leftmost cube_red)" in told


@pytest.mark.parametrize(
    ("predicate", "meant", "fault"),
    [
        ("(gripper_empty)", "hand_empty", ""),
        ("(robot_hand_free)", "hand_empty", ""),
        ("(is_holding ?c)", "held", ""),
        ("(rests_on ?a ?b)", "on", ""),
        ("(adjacent_to ?a ?b)", "next_to", ""),
        ("(gripper_empty ?g)", "", "seems to mean what is observed as (hand_empty)"),
        ("(holding ?g ?c)", "", "(held ?a)"),
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
        "no longer seen",
        "it fell",
    ):
        assert words in text


def test_the_same_question_is_not_asked_twice() -> None:
    unusable = ModelError("no", "refused")
    chat = Script([ModelError("busy", "busy"), {"domain": "(", "problem": "("}, unusable, unusable])
    asking = LanguageProposer(NotInVain(chat, {}, 8))
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
