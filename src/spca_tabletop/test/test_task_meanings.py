"""What task texts mean: no word is dropped, nothing is taken for something else, and a refusal says why."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.paths import LEVELS, ROOT
from spca_core.plan import PlanRequest
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.scene import Observation
from spca_core.validation import parse_yaml
from spca_planner.critics import contradictions, off_topic_reason
from spca_planner.pddl.lint import parse
from spca_tabletop.language.goal import Goal
from spca_tabletop.language.understanding import describe, nearest, understand
from spca_tabletop.language.words import told_slips
from spca_tabletop.level_check import nominal_observation
from spca_tabletop.plan.problem import problem
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import CUBES, PLATES, goals, scene, task

sys.path.insert(0, str(Path(__file__).parent))
from sentences import agrees, sentences

TEXTS, FAMILIES, ASIDES, STRANGERS, LEVELED = (
    parse_yaml((Path(__file__).parent / f"{name}.yaml").read_text())
    for name in ("texts", "families", "asides", "strangers", "tables")
)
_REDS = ("cube_red", "cube_red_2", "cube_red_3", "cube_blue")
TABLES: dict[str, Observation] = {
    "nominal": scene(),
    "shuffled": scene(
        row=("cube_red", "cube_green", "cube_blue"), depth=("cube_green", "cube_red", "cube_blue")
    ),
    "half stacked": scene(on={"cube_red": "cube_green", "cube_blue": "plate_blue"}),
    "stacked": scene(on={"cube_red": "plate_red", "cube_green": "cube_red", "cube_blue": "cube_green"}),
    "loaded": scene(on={"cube_red": "plate_red", "cube_blue": "plate_blue"}),
    "four": scene(objects=(*CUBES, "cube_yellow", *PLATES)),
    "on plates": scene({cube: cube.replace("cube", "plate") for cube in CUBES}),
    "three red": scene(objects=(*_REDS, "plate_red", "plate_blue"), row=_REDS, depth=_REDS),
    "held": scene(held="cube_red"),
    "without red": scene(objects=("cube_green", "cube_blue", "plate_red")),
}
MEANT = [(text, meaning, name) for name, texts in TEXTS.items() for text, meaning in texts.items()]
for name in TABLES:
    MEANT += [(text, goal, name) for goal, texts in FAMILIES.get(name, {}).items() for text in texts]
STRANGE = [(text, goal) for goal, texts in STRANGERS.items() for text in texts]
nominal = lru_cache(nominal_observation)
"""The table of a level."""


def understood(text: str, seen: Observation) -> set[Goal]:
    """The goals, or none where it is refused."""
    with suppress(NotUnderstood, Impossible):
        return set(understand(task(text), seen))
    return set()


def said(rows: list[tuple[Any, ...]]) -> pytest.MarkDecorator:
    """Rows of a text, what is said of it, and its table or level."""
    return pytest.mark.parametrize(("text", "what", "where"), rows, ids=[row[0] for row in rows])


def leveled(part: str) -> pytest.MarkDecorator:
    texts = LEVELED[part].items()
    return said([(text, what, level) for level, told in texts for text, what in told.items()])


@said(MEANT)
def test_text_means(text: str, what: str, where: str) -> None:
    assert understood(text, TABLES[where]) == (goals(what) if what else set())


@leveled("meanings")
def test_text_means_on_the_table_of_a_level(text: str, what: str, where: str) -> None:
    wanted = {tuple(atom.split()) for atom in what.split(", ")}
    for goal in understand(task(text), nominal(where)):
        assert wanted <= goal
        assert {atom for atom in goal - wanted if atom[2:] != ("table",)} == set()


@leveled("open")
def test_what_is_left_open_stays_open(text: str, what: int, where: str) -> None:
    assert len(understand(task(text), nominal(where))) == what


@pytest.mark.parametrize(("text", "meaning"), STRANGE)
def test_what_strangers_say_is_not_misread(text: str, meaning: str) -> None:
    found = {_without_table(goal) for goal in understood(text, scene())}
    assert not found or (meaning != "nothing" and found == {_without_table(goal) for goal in goals(meaning)})


def _without_table(goal: Goal) -> Goal:
    return frozenset(atom for atom in goal if atom[2:] != ("table",))


def test_generated_sentences_are_not_misread() -> None:
    """A few of those of benchmarks/task_texts.py."""
    for sentence in sentences(120, seed=7):
        for goal in understood(sentence.text, scene()):
            assert any(agrees(goal, way) for way in sentence.ways), sentence.text


@leveled("refused")
def test_is_refused_rather_than_guessed(text: str, what: str, where: str) -> None:
    with pytest.raises((NotUnderstood, Impossible), match=what):
        understand(task(text), nominal(where))


REFUSED = [*FAMILIES["refused"].items(), *FAMILIES["impossible"].items()]
DEFINITE = [(text, why, name) for name, texts in FAMILIES["definite"].items() for text, why in texts.items()]


@said([*((text, why, "nominal") for text, why in REFUSED), *DEFINITE])
def test_a_refusal_is_one_true_line(text: str, what: str, where: str) -> None:
    kinds = Impossible if text in FAMILIES["impossible"] else (NotUnderstood, Impossible)
    with pytest.raises(kinds) as refusal:
        understand(task(text), TABLES[where])
    assert what in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize(("text", "near"), FAMILIES["nearest"].items())
def test_asks_about_the_nearest_sentence_that_keeps_all_that_counts(text: str, near: str) -> None:
    assert nearest(task(text), scene()) == near


def _beside(text: str) -> str:
    order = "Put the red cube on the blue plate"
    return text.replace("ORDER", order).replace("order", order[0].lower() + order[1:])


@pytest.mark.parametrize("text", ASIDES["left out"])
def test_what_binds_nothing_is_left_out(text: str) -> None:
    assert understood(_beside(text), TABLES["nominal"]) == goals("on R pB")


@pytest.mark.parametrize("text", ASIDES["binding"])
def test_what_binds_is_never_left_out(text: str) -> None:
    """Actions, conditions, exceptions, times, numbers, arrangements and what takes back, in unknown words."""
    assert understood(_beside(text), TABLES["nominal"]) == set()


def test_what_is_left_aside_is_told() -> None:
    told = "(I take 'tuoch' for 'touch'.) (Left aside: 'Mummy will laugh'.)"
    assert told_slips("Mummy will laugh, tuoch the red cube") == told


def test_the_title_stands_in_for_a_missing_description() -> None:
    assert set(understand(task("", title="Touch the red cube"), scene())) == goals("touched R")
    assert set(understand(task("Touch the blue cube.", title="Nonsense"), scene())) == goals("touched B")


def test_the_critics_have_nothing_against_the_builtin_drafts() -> None:
    """Else a task would be understood and then refused."""
    vocabulary = TabletopVocabulary()
    for text, _, name in (*MEANT[::7], *((text, meaning, "nominal") for text, meaning in STRANGE[::3])):
        seen = TABLES[name]
        if not understood(text, seen):
            continue
        request = PlanRequest(attempt="1", task=task(text), observation=seen, skills=())
        draft = BuiltinProposer().draft(request, None, None)
        domain, problem = parse(draft.domain, draft.problem)
        known = vocabulary.with_places(seen, [thing.name for thing in problem.objects])
        assert contradictions(domain, problem, known, vocabulary.extensions(known)) == [], text
        assert off_topic_reason(problem, vocabulary.required(request.task, seen), seen) == "", text


def test_what_the_gripper_cannot_take_is_refused_with_the_reason() -> None:
    seen = nominal("shapes_01")
    with pytest.raises(Impossible, match=r"pink cuboid is too large to be picked up: it is 10.0 cm wide"):
        problem(seen, understand(task("Pick up the pink cuboid."), seen))
    assert problem(seen, understand(task("Put the red cube on the pink cuboid."), seen))


def test_every_level_is_understood_by_description_and_by_title() -> None:
    """The twelve levels that others left empty included; what they mean is the referee's."""
    loaded = scene(on={"cube_blue": "plate_blue"})  # so that one cube can be taken from a plate
    for path in LEVELS.glob("*/*.yaml"):
        level = parse_yaml(path.read_text())
        own = "world" in level
        for text in [level["description"], *([] if own else [level["title"]])]:
            assert understood(text, nominal(path.stem) if own else loaded), path.stem


ORDERS = "put touch stack build red blue green cube cubes plate the a on of top it them and , : tower with is"


@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=80)
    | st.lists(st.sampled_from(ORDERS.split()), min_size=1, max_size=9).map(" ".join)
)
def test_any_text_is_understood_or_refused_in_plain_words(text: str) -> None:
    with suppress(NotUnderstood, Impossible):
        assert all(understand(task(text), scene()))


UNDERSTOOD, _, NO = (ROOT / "docs" / "task-texts.md").read_text().partition("## What is refused")


def rows(text: str) -> list[tuple[str, str, str]]:
    """Task text, answer and level of every row of the page."""
    found, level = [], ""
    for line in text.splitlines():
        if table := re.match(r"On the table of `(\w+)`", line):
            level = table.group(1)
        elif (row := re.fullmatch(r"\| (.+) \| (.+) \|", line)) and not row.group(1).startswith("text"):
            found.append((*row.groups(), level))
    return found


@said(rows(UNDERSTOOD))
def test_the_page_says_what_a_text_comes_to(text: str, what: str, where: str) -> None:
    found = understand(task(text), nominal(where))
    assert describe(found[:1]) == what.removesuffix("; or …")
    assert (len(found) > 1) == what.endswith("; or …")


@said(rows(NO))
def test_the_page_says_what_is_refused(text: str, what: str, where: str) -> None:
    with pytest.raises((NotUnderstood, Impossible)) as caught:
        understand(task(text), nominal(where))
    assert str(caught.value).startswith(what)
