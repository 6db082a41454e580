"""The critics of meaning, one fault after the other, through the whole judgement."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from spca_core.plan import Draft, PlanRequest
from spca_core.scene import Observation
from spca_planner import planner
from spca_planner.solver.judgement import Judgement
from spca_planner.solver.process import SolverProcess
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import scene, task

DOMAIN = Path(__file__).with_name("critics.pddl").read_text()
OBJECTS = "cube_red cube_green cube_blue - cube plate_red plate_green plate_blue - plate table - table"
INIT = """(hand_empty) (on cube_red table) (on cube_green table) (on cube_blue table)
  (clear cube_red) (clear cube_green) (clear cube_blue) (clear plate_red)"""
IN_HAND = INIT.replace("(hand_empty) (on cube_red table)", "(holding cube_red)")
ON_BLUE = INIT.replace("(on cube_red table)", "(on cube_red cube_blue)").replace("(clear cube_blue)", "")
LOADED = INIT.replace("on cube_red table", "on cube_red plate_red").replace("(clear plate_red)", "")
STATES = {"": INIT, "in hand": IN_HAND, "on blue": ON_BLUE, "loaded": LOADED}
SEEN = {
    "": scene(),
    "held": scene(held="cube_red"),
    "stacked": scene(on={"cube_red": "cube_blue"}),
    "on plate": scene({"cube_red": "plate_red"}),
}
DRAFTS = yaml.safe_load(Path(__file__).with_name("critics.yaml").read_text())
ACCEPTED, REFUSED = DRAFTS["accepted"], DRAFTS["refused"]
"""What the scene says nothing about is left to the draft; and what is wrong."""


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    with SolverProcess((DOMAIN,)) as process:
        yield process


def judge(
    solver: SolverProcess,
    goal: str = "(on cube_red cube_blue)",
    domain: str = DOMAIN,
    asked: str = "Stack the red cube on the blue cube.",
    seen: Observation = SEEN[""],
    init: str = INIT,
    objects: str = OBJECTS,
) -> Judgement:
    request = PlanRequest(attempt="1", task=task(asked), observation=seen, skills=())
    text = f"(define (problem p) (:domain drafted) (:objects {objects}) (:init {init}) (:goal {goal}))"
    draft = Draft(domain=domain, problem=text)
    return planner.judge(solver, TabletopVocabulary(), 20.0, draft, request)


def refusal(judged: Judgement) -> tuple[str, str]:
    assert "\n" not in judged.rejection.message
    return judged.rejection.critic, judged.rejection.message


def judged(solver: SolverProcess, changes: Mapping[str, Any]) -> Judgement:
    """The draft that differs from the honest one by this."""
    texts = {"domain": DOMAIN, "init": STATES[changes.get("state", "")], "objects": OBJECTS}
    for name, changed in changes.items():
        if name in texts and isinstance(changed, list):
            assert changed[0] in texts[name]
            texts[name] = texts[name].replace(*changed)
        elif name in texts:
            texts[name] = changed
    texts["init"] += f" {changes.get('more', '')}"
    if action := changes.get("vacuous"):
        constants = "(:constants cube_red cube_blue - cube)\n(:predicates"
        texts["domain"] = texts["domain"].replace("(:predicates", constants)
        texts["domain"] = texts["domain"].replace("(:action touch", f"(:action {action}(:action touch")
        texts["objects"] = texts["objects"].replace("cube_red cube_green cube_blue", "cube_green")
    asked = {name: changes[name] for name in ("goal", "asked") if name in changes}
    return judge(solver, seen=SEEN[changes.get("seen", "")], **asked, **texts)


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_may_be_so_passes(solver: SolverProcess, name: str) -> None:
    found, row = judged(solver, ACCEPTED[name]), ACCEPTED[name]
    assert found.rejection is None
    assert [words[0] for words in found.steps] == row.get("plan", [words[0] for words in found.steps])


@pytest.mark.parametrize("wrong", REFUSED, ids=[row["said"] or row["goal"] for row in REFUSED])
def test_a_fault_is_named(solver: SolverProcess, wrong: dict[str, Any]) -> None:
    (by, words), said = refusal(judged(solver, wrong)), wrong["said"]
    assert by == wrong["critic"]
    assert words == said[1:] if said[:1] == "=" else all(part in words for part in said.split("|"))


def test_all_faults_of_a_draft_are_told_at_once(solver: SolverProcess) -> None:
    text = DOMAIN.replace("(hand_empty) (not", "(hand_emty) (not").replace("(touched ?a))", "(tuched ?a))")
    critic, words = refusal(judge(solver, "(on cube_green cube_blue)", text, init="(hand_empty)"))
    assert critic == "parse" and words.startswith("4 faults: (1) ")
    parts = "'tuched'", "'hand_emty'", "(:init …) lacks (on cube_blue table)", "the task names cube_red"
    assert all(part in words for part in parts)


def test_a_predicate_of_ones_own_beside_the_observed_one_is_not_taken_for_it(solver: SolverProcess) -> None:
    """That something has been stacked is no fact about where it is now; without `on`, it would be."""
    own = DOMAIN.replace("(done)", "(done) (stacked ?a - cube ?b - object)")
    own = own.replace("(and (on ?c ?b) (hand_empty)", "(and (on ?c ?b) (stacked ?c ?b) (hand_empty)")
    seen, goal = f"{INIT} (stacked cube_red cube_green)", "(stacked cube_red cube_blue)"
    assert judge(solver, goal, own, init=seen).rejection is None
    renamed = DOMAIN.replace("(on ?", "(stacked ?")
    told = refusal(judge(solver, goal, renamed, init=seen.replace("(on ", "(stacked ")))
    assert "(stacked cube_red cube_green), which the scene does not show" in told[1]
