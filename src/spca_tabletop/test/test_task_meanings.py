"""What task texts mean: no word is dropped, and nothing is taken for something else."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from spca_core.paths import ROOT
from spca_core.plan import PlanRequest
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.scene import Observation
from spca_core.validation import parse_yaml
from spca_planner.critics import contradictions, off_topic_reason
from spca_planner.pddl.lint import parse
from spca_tabletop.language.goal import Goal
from spca_tabletop.language.understanding import describe, understand
from spca_tabletop.level_check import nominal_observation
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import CUBES, goals, scene, task

sys.path.insert(0, str(Path(__file__).parent))
from sentences import COLOURS, agrees, sentences

STRANGERS: dict[str, list[str]] = parse_yaml((Path(__file__).parent / "strangers.yaml").read_text())
"""Goal, or "nothing" → texts that mean it, in `scene()`."""


TEXTS: dict[str, dict[str, str]] = parse_yaml((Path(__file__).parent / "texts.yaml").read_text())
TABLES = {
    "nominal": scene(),
    "stacked": scene(on={"cube_red": "cube_green", "cube_blue": "plate_blue"}),
    "shuffled": scene(
        row=("cube_red", "cube_green", "cube_blue"), depth=("cube_green", "cube_red", "cube_blue")
    ),
}
ALL = [(text, meaning, TABLES[name]) for name, texts in TEXTS.items() for text, meaning in texts.items()]


def understood(text: str, seen: Observation) -> set[Goal]:
    """The goals, or none where it is refused."""
    try:
        return set(understand(task(text), seen))
    except (NotUnderstood, Impossible):
        return set()


@pytest.mark.parametrize(("text", "meaning", "seen"), ALL, ids=[a[0] for a in ALL])
def test_text_means(text: str, meaning: str, seen: Observation) -> None:
    assert understood(text, seen) == (goals(meaning) if meaning else set())


@pytest.mark.parametrize(("meaning", "text"), [(m, t) for m, texts in STRANGERS.items() for t in texts])
def test_what_strangers_say_is_not_misread(meaning: str, text: str) -> None:
    found = {_without_table(goal) for goal in understood(text, scene())}
    assert not found or (meaning != "nothing" and found == {_without_table(goal) for goal in goals(meaning)})


def _without_table(goal: Goal) -> Goal:
    return frozenset(atom for atom in goal if atom[2:] != ("table",))


def test_generated_sentences_are_not_misread() -> None:
    """A few of those of benchmarks/task_texts.py."""
    for sentence in sentences(120, seed=7):
        for goal in understood(sentence.text, scene()):
            assert any(agrees(goal, way) for way in sentence.ways), sentence.text


ADDED = (
    "not", "no", "never", "then", "in this order", "two", "three", "each", "except", "up",
    "there", "on top", "at the bottom", "under", "each other", "at the same time", "half on", "upwards",
    "in the air", "without touching it", "without moving the others", "the others", "must not", "yellow",
)  # fmt: skip


@settings(max_examples=60, derandomize=True)  # `benchmarks/task_texts.py` searches further
@example("Put the {} cube on the {} plate", ["green", "blue", "red"], "yellow", 2)
@given(
    st.sampled_from(("Put the {} cube on the {} plate", "Touch the {} cube and the {} plate")),
    st.permutations(COLOURS),
    st.sampled_from(ADDED),
    st.integers(0, 12),
)
def test_a_word_more_changes_the_goal_or_is_refused(
    pattern: str, colours: list[str], word: str, place: int
) -> None:
    assume(word != "then" or place > 0)  # at the beginning it goes on with a conversation
    words = pattern.format(*colours).split()
    longer = " ".join([*words[:place], word, *words[place:]])
    assert understood(longer, scene()) != understood(" ".join(words), scene())


def test_the_critics_have_nothing_against_the_builtin_drafts() -> None:
    """Else a task would be understood and then refused."""
    vocabulary = TabletopVocabulary()
    strange = [(t, m, scene()) for m, texts in STRANGERS.items() for t in texts if m != "nothing"]
    for text, _, seen in (*ALL, *strange):
        if not understood(text, seen):
            continue
        request = PlanRequest(attempt="1", task=task(text), observation=seen, skills=())
        draft = BuiltinProposer().draft(request, None, None)
        domain, problem = parse(draft.domain, draft.problem)
        known = vocabulary.with_places(seen, [thing.name for thing in problem.objects])
        assert contradictions(domain, problem, known, vocabulary.extensions(known)) == [], text
        assert off_topic_reason(problem, vocabulary.required(request.task, seen), seen) == "", text


def test_a_modifier_that_distinguishes_nothing_yields_to_a_second_place() -> None:
    """The green cube is on the green plate already; still two cubes shall be placed, not one from there."""
    seen = scene(on={"cube_green": "plate_green"})
    text = "Put the green cube on the green plate and the blue cube on the blue plate."
    assert set(understand(task(text), seen)) == goals("on G pG, on B pB")


def test_the_title_stands_in_for_a_missing_description() -> None:
    assert set(understand(task("", title="Touch the red cube"), scene())) == goals("touched R")
    assert set(understand(task("Touch the blue cube.", title="Nonsense"), scene())) == goals("touched B")


@pytest.mark.parametrize("text", ["Put cube_red on plate_blue.", "Place box_red onto plate_blue"])
def test_symbols_are_words_too(text: str) -> None:
    assert set(understand(task(text), scene())) == goals("on R pB")


def test_a_cube_on_the_table_is_put_there_where_there_is_none() -> None:
    """Level stack_09 on a hard table whose cubes all lie on plates: one of them goes to the table first."""
    seen = scene(on={"cube_red": "plate_red", "cube_green": "plate_green", "cube_blue": "plate_blue"})
    found = understand(task("Put any cube on top of any other cube that stands on the table."), seen)
    for goal in found:
        (below,) = (atom[1] for atom in goal if atom[0] == "put_down")
        assert ("on", below, "table") in goal
        assert any(atom[0] == "on" and atom[2] == below for atom in goal)
    assert len(found) == 6
    held = understand(task("Pick up a cube from the table."), seen)
    assert set(held) == {frozenset({("put_down", c), ("holding", c)}) for c in CUBES}


def test_what_is_held_is_put_down_on_the_table_and_no_way_to_the_side() -> None:
    """Of what is in the gripper "5 cm to the left" says nothing: it is not where it was."""
    stands = scene()
    fact = next(f for f in stands.facts if f.args == ("cube_red", "table"))
    held = fact.model_copy(update={"predicate": "held", "args": ("cube_red",)})
    seen = stands.model_copy(update={"facts": (held, *(f for f in stands.facts if f != fact))})
    for text in ("Put the red cube down.", "Drop the red cube.", "Let go of the red cube."):
        assert understand(task(text), seen) == [frozenset({("on", "cube_red", "table")})], text
    with pytest.raises(NotUnderstood, match="I hold the red cube; say where it is to go"):
        understand(task("Move the red cube 5 cm to the left."), seen)
    with pytest.raises(NotUnderstood, match="I do not know where to put it"):
        understand(task("Put the blue cube down."), seen)


# --- what `docs/task-texts.md` says of them is true

PAGE = (ROOT / "docs" / "task-texts.md").read_text()
UNDERSTOOD, _, REFUSED = PAGE.partition("## What is refused")
nominal = lru_cache(nominal_observation)


def rows(text: str) -> list[tuple[str, str, str]]:
    """Level, task text and answer of every row."""
    found, level = [], ""
    for line in text.splitlines():
        if table := re.match(r"On the table of `(\w+)`", line):
            level = table.group(1)
        elif (row := re.fullmatch(r"\| (.+) \| (.+) \|", line)) and not row.group(1).startswith("text"):
            found.append((level, *row.groups()))
    return found


@pytest.mark.parametrize(("level", "text", "meaning"), rows(UNDERSTOOD))
def test_the_page_says_what_a_text_comes_to(level: str, text: str, meaning: str) -> None:
    goals = understand(task(text), nominal(level))
    assert describe(goals[:1]) == meaning.removesuffix("; or …")
    assert (len(goals) > 1) == meaning.endswith("; or …")


@pytest.mark.parametrize(("level", "text", "answer"), rows(REFUSED))
def test_the_page_says_what_is_refused(level: str, text: str, answer: str) -> None:
    with pytest.raises((NotUnderstood, Impossible)) as caught:
        understand(task(text), nominal(level))
    assert str(caught.value).startswith(answer)
