"""Drafts by a language model, over HTTP to a server on loopback."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.proposer import Answered, Impossible, ModelError, NotUnderstood
from spca_core.skill import SkillSignature
from spca_planner.language import LanguageProposer, messages
from spca_planner.prediction import PddlReader
from spca_tabletop.plan.problem import domain, with_places
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.contracts.plan_proposer_contract import PlanProposerContract
from spca_testing.models.behaviours import Behaviour, Say, refuse
from spca_testing.models.server import ModelServer
from spca_testing.observations import scene, task

SKILLS = (SkillSignature(name="pick_up", parameters=("c", "from_"), doc="Pick up\n a cube."),)
REQUEST = PlanRequest(
    attempt="1", task=task("Stack the red cube on the blue cube."), observation=scene(), skills=SKILLS
)
GOOD = BuiltinProposer().draft(REQUEST, None, None)
ADDED = " (on plate_blue table) (on plate_green table) (on plate_red table)"
"""What is seen and the built-in draft leaves out."""
WHOLE = json.dumps({"domain": GOOD.domain, "problem": GOOD.problem, "remark": "as asked"})
FENCED = {"domain": f"```pddl\n{GOOD.domain}\n```", "problem": f"```\n{GOOD.problem}```\n", "remark": ""}
DECLINED = {**json.loads(WHOLE), "question": "none", "impossible_because": "n/a"}

Open = Callable[..., tuple[LanguageProposer, ModelServer]]


@pytest.fixture
def open_proposer(start: Callable[..., Any]) -> Open:
    """From the server's behaviours to a proposer that asks it, and the server."""

    def open_it(*script: Behaviour) -> tuple[LanguageProposer, ModelServer]:
        server, chat = start(list(script))
        return LanguageProposer(chat, "planner_big", TabletopVocabulary()), server

    return open_it


class TestLanguageProposer(PlanProposerContract):
    @pytest.fixture
    def proposer(self, open_proposer: Open) -> LanguageProposer:
        return open_proposer(*[Say(WHOLE)] * 3)[0]

    @pytest.fixture
    def request_(self) -> PlanRequest:
        return REQUEST


def test_the_prompt_is_bounded_as_the_library_grows() -> None:
    skill = SkillSignature(name="skill", parameters=("a",), doc="word " * 500)
    skills = tuple(skill.model_copy(update={"name": f"skill_{i}"}) for i in range(1000))
    long = Draft(domain="(d)" * 50_000, problem="(p)" * 50_000)
    seen = scene().model_copy(update={"sentences": ("x" * 5000,) * 100, "facts": scene().facts * 50})
    more = {"skills": skills, "observation": seen, "mode": "repair", "failure": "z" * 90_000}
    rejection = Rejection(critic="parse", message="y" * 9000)
    asked = messages(REQUEST.model_copy(update=more), long, rejection)
    assert sum(len(message["content"]) for message in asked) < 70_000


@pytest.mark.parametrize("answer", [FENCED, DECLINED], ids=["fenced", "declined beside it"])
def test_a_draft_however_it_is_wrapped(open_proposer: Open, answer: dict[str, str]) -> None:
    draft = open_proposer(Say(json.dumps(answer)))[0].draft(REQUEST, None, None)
    problem = GOOD.problem.replace(":init", f":init{ADDED}")
    assert (draft.domain.strip(), draft.problem.strip()) == (GOOD.domain.strip(), problem.strip())


def test_what_is_seen_and_left_out_is_added_at_the_draft_s_own_places_too(open_proposer: Open) -> None:
    """A model that names a place need not say who stands there already."""
    place = "left_of__cube_red"
    there = {f.args[0] for f in with_places(scene(), [place]).facts if f.predicate == "at"}
    an_object = GOOD.problem.replace("(:objects", f"(:objects {place} - place", 1)
    a_constant = GOOD.domain.replace("(:constants", f"(:constants {place} - place", 1)
    in_the_goal = GOOD.problem.replace("(:goal (and", f"(:goal (and (at cube_blue {place})", 1)
    for text, problem in ((GOOD.domain, an_object), (a_constant, in_the_goal)):
        proposer, _ = open_proposer(Say(json.dumps({"domain": text, "problem": problem, "remark": ""})))
        drafted = proposer.draft(REQUEST, None, None).problem
        assert there and all(f"(at {name} {place})" in drafted.partition("(:goal")[0] for name in there)


def test_reuse_keeps_the_domain_to_the_letter(open_proposer: Open) -> None:
    proposer, _ = open_proposer(Say(json.dumps({"problem": GOOD.problem, "remark": "the domain is fine"})))
    reused = REQUEST.model_copy(update={"mode": "reuse"})
    draft = proposer.draft(reused, Draft(domain=domain(), problem=""), None)
    assert (draft.domain, draft.remark) == (domain(), "(The model: the domain is fine)")
    assert PddlReader(TabletopVocabulary()).goal(draft).endswith(". (The model: the domain is fine)")


@pytest.mark.parametrize("answer", [Say("I cannot do that."), refuse("no")])
def test_no_draft_is_a_model_error(open_proposer: Open, answer: Behaviour) -> None:
    with pytest.raises(ModelError):
        open_proposer(answer, answer, answer)[0].draft(REQUEST, None, None)


KINDS = {kind.__name__: kind for kind in (Answered, Impossible, NotUnderstood)}
LONG = ["NotUnderstood", "w" * 300 + " (shortened)", {"question": "w" * 9000}]
DECLINED_BY = [*yaml.safe_load(Path(__file__).with_name("declined.yaml").read_text()), LONG]


@pytest.mark.parametrize(("kind", "told", "answer"), DECLINED_BY)
def test_a_model_declines_in_few_words_and_is_not_asked_the_same_again(
    open_proposer: Open, kind: str, told: str, answer: dict[str, str]
) -> None:
    proposer, server = open_proposer(Say(json.dumps(answer)), Say(WHOLE))
    for _ in range(2):
        with pytest.raises(KINDS[kind]) as said:
            proposer.draft(REQUEST, None, None)
        assert str(said.value).startswith(told)
        assert getattr(said.value, "proposal", "") == " ".join(answer.get("proposal", "").split())
    assert len(server.requests) == 1
    assert "impossible_because" in server.requests[0].text
