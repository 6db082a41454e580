"""What models are told and asked: measures, words, a conversation; and no question is asked twice."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from spca.dialogue import Dialogue
from spca.journal import Event
from spca_core.options import RunOptions
from spca_core.plan import Draft, PlanRequest, PlanResult
from spca_core.ports.chat import ChatReply, Message, Role
from spca_core.ports.proposer import ModelError, NotUnderstood
from spca_core.result import Ending
from spca_llm.chat import NotInVain
from spca_planner.critics import with_synonyms
from spca_planner.language import LanguageProposer, messages
from spca_planner.pddl.syntax import parse_domain
from spca_planner.prediction import PddlReader
from spca_planner.trusted import actions_of
from spca_tabletop.kit import TabletopKit
from spca_tabletop.plan.problem import domain
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing import pddl
from spca_testing.observations import plan_of, scene, task

WORDS = TabletopVocabulary().words()
READER = PddlReader(TabletopVocabulary())
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
        return ChatReply(text=json.dumps(answer), parsed=schema.model_validate(answer))


def request(**values: object) -> PlanRequest:
    return PlanRequest.model_validate(
        {"attempt": "a", "task": TASK, "observation": scene(), "skills": (), **values}
    )


def prompt(asked: PlanRequest, previous: Draft | None) -> str:
    """What the planner's model is asked."""
    return str(messages(asked, previous, None, TabletopVocabulary(), ACTIONS)[1]["content"])


def test_a_model_gets_measures_once_where_it_asks_for_them() -> None:
    asks = {"measure": ["cube_red", "plate_blue"]}
    chat = Script([asks, {**asks, "question": "Which corner?"}, {"domain": "(d)", "problem": "(p)"}])
    room, known = TabletopKit().room(RunOptions(level="stack_01")), dict[str, list[str]]()
    roles: tuple[Role, ...] = ("planner_small", "planner_big")
    words, beside = TabletopVocabulary(), task("Put the red cube left of the blue plate.")
    small, big = (LanguageProposer(chat, role, words, room=room, measures=known) for role in roles)
    with pytest.raises(NotUnderstood, match="Which corner"):
        small.draft(request(task=beside), None, None)
    draft = Draft(domain="(d)", problem="(p)")
    big.draft(request(mode="replan", failure="it fell", task=beside), draft, None)
    first, second, third = (text for _, text in chat.asked)
    assert "cube_red to plate_blue: " in third, "a plan is mended by the same measures"
    assert "size 40" not in first and re.search(r"cube_red: at [-\d ]+, size 40 40 40", second)
    assert "things can be put at x 340 to 660 mm, y -280 to 280 mm\n" in first
    assert "cube_red to plate_blue: " in second and "cube_green: " not in second


def test_a_domain_that_forgets_what_is_seen_is_not_trusted() -> None:
    """After placing, the hand is seen to be empty; a domain without a word of that worked only by chance."""
    effect = "(on ?cube ?plate) (hand_empty) (not (holding ?cube))"
    good = pddl.draft(prompt(request(), None), "Put the red cube on the blue plate.")
    held, placed = scene(held="cube_red"), scene({"cube_red": "plate_blue"})
    for forgotten, missed in (
        ("", []),
        ("(hand_empty) ", ["(hand_empty)"]),
        (" (not (holding ?cube))", ["(not (holding cube_red))"]),
    ):
        draft = good.model_copy(update={"domain": good.domain.replace(effect, effect.replace(forgotten, ""))})
        plan = plan_of("lift_cube cube_red table", "set_on_plate cube_red plate_blue", draft=draft)
        evidence = READER.weigh(plan, [held, placed], placed, scene())
        assert not evidence.contradicted
        assert [str(o) for step in evidence.steps for o in step.overlooked] == missed


def ended(folder: Path, outcome: Ending, reason: str) -> object:
    """Stand in for a run that touched the red cube and ended so."""
    planned = PlanResult(attempt="", status="solved", plan=plan_of("touch cube_red"), drafts=())
    data = {"args": ["cube_red"], "status": "done"}
    touched = Event(kind="step", wall=0.0, sim=0.0, text="touch(cube_red)", data=data)
    success = outcome is Ending.SUCCESS
    result = SimpleNamespace(outcome=outcome, reason=reason, answer="", refused=not success, success=success)
    events = [touched] if outcome is not Ending.IMPOSSIBLE else []
    return SimpleNamespace(folder=folder, result=result, events=events, seen=(scene(),), planning=planned)


PUT_BACK = "to put back: put the red cube at x = 0.500 m, y = -0.150 m"


def test_a_conversation_reaches_the_model(tmp_path: Path) -> None:
    """What was said and done, where things were before, a question that was asked, the user's own words."""
    talk, told = Dialogue(TabletopKit(), scene), []
    endings = [(Ending.SUCCESS, "carried out"), (Ending.NOT_UNDERSTOOD, "Which 'the plate'?"),
               (Ending.SUCCESS, "carried out")]  # fmt: skip
    words = ("touch the left cube", "put it on the plate", "the blue one")
    for sentence, ending in zip(words, endings, strict=True):
        meant = talk.meant(sentence)
        told.append((meant, *talk.conversation(sentence, meant)))
        talk.remember(sentence, meant, ended(tmp_path, *ending))  # type: ignore[arg-type]
    done = f"robot: success: carried out; did: touch(cube_red); {PUT_BACK}"
    asked = f"robot: Which 'the plate'?; did: touch(cube_red); {PUT_BACK}"
    assert told == [
        ("touch the left cube",),
        ("put the red cube on the plate", "user: touch the left cube", done, "user: put it on the plate"),
        ("put the red cube on the blue plate", *told[1][1:], asked, "user: the blue one"),
    ]


def test_a_model_hears_of_so_many_turns_and_of_older_ones_in_short(tmp_path: Path) -> None:
    talk = Dialogue(TabletopKit(), scene)
    for _ in range(9):
        ending = ended(tmp_path, Ending.IMPOSSIBLE, "Mats are never held. I could move the cube.")
        talk.remember("go on", "go on", ending)  # type: ignore[arg-type]
    told = talk.conversation("why?", "why?")
    assert told[0] == "(older turns left out: 1)" and len(told) == 1 + 2 * 8 + 1
    assert told[2] == "robot: impossible: Mats are never held" and told[14].endswith("move the cube.")


@pytest.mark.parametrize(
    ("predicate", "meant", "fault"),
    [
        ("(gripper_empty)", "hand_empty", ""),
        ("(is_holding ?c)", "held", ""),
        ("(holding ?g ?c)", "", "(held ?a)"),
        ("(clear ?a) (uncovered ?a ?b)", "clear", ""),
    ],
)
def test_a_synonym_is_mapped_or_refused(predicate: str, meant: str, fault: str) -> None:
    found = parse_domain(
        f"(define (domain d) (:predicates {predicate}) (:action a :parameters () :effect (and {predicate})))"
    )
    extensions = TabletopVocabulary().extensions(scene())
    known, faults = with_synonyms(found, WORDS, extensions)
    assert not meant or known[predicate.strip("()").split()[0]] == extensions[meant]
    assert bool(faults) == bool(fault) and fault in "".join(faults)


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
