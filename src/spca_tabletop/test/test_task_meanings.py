"""What task texts mean: every level's task in many words."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from spca_core.plan import PlanRequest
from spca_planner.critics.goal import off_topic
from spca_planner.critics.scene import contradictions
from spca_planner.pddl.lint import parse
from spca_tabletop.language.examples import CUBES, goals, scene, task
from spca_tabletop.language.understanding import understand
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary

MEANINGS: dict[str, list[str]] = yaml.safe_load((Path(__file__).parent / "task_texts.yaml").read_text())
"""Goal → texts that mean it, in `scene()`."""


@pytest.mark.parametrize(("meaning", "text"), [(m, t) for m, texts in MEANINGS.items() for t in texts])
def test_text_means(meaning: str, text: str) -> None:
    assert set(understand(task(text), scene())) == goals(meaning)


SHUFFLED = scene(row=("cube_red", "cube_green", "cube_blue"), depth=("cube_green", "cube_red", "cube_blue"))


SHUFFLED_TEXTS = {
    "Touch the left cube.": "touched R",
    "Touch the cube in the middle.": "touched G",
    "Touch the right cube.": "touched B",
    "Touch the cube farthest from the robot.": "touched B",
    "Touch the near cube.": "touched G",
    "Stack the left cube on the right cube.": "on R B, on B T",
    "Put the rightmost cube on the leftmost plate.": "on B pG",
}


@pytest.mark.parametrize(("text", "meaning"), SHUFFLED_TEXTS.items())
def test_roles_come_from_what_is_seen_not_from_the_nominal_table(text: str, meaning: str) -> None:
    assert set(understand(task(text), SHUFFLED)) == goals(meaning)


STACKED = scene(on={"cube_red": "cube_green", "cube_blue": "plate_blue"})


STACKED_TEXTS = {
    "Pick up a cube from a plate.": "holding B",
    "Choose a cube that stands on a plate, not on the table, and lift it off the plate.": "holding B",
    "Pick up the cube on the green cube.": "holding R",
    "Pick up the cube on the blue plate.": "holding B",
    "Pick up the cube under the red cube.": "holding G",
    "Take the red cube off the green cube.": "holding R",
    "Remove the red cube from the green cube.": "on R T",
    "Put the red cube on the blue cube.": "on R B, on B pB",  # a stack may stand on a plate
    "Put the blue cube on the red cube.": "on B R, on R T",
    "Stack the green cube on the blue cube.": "on G B, on B pB",
    "Clear the blue plate.": "on B T",
    "Unstack the red cube.": "on R T",
    "Pick up the cube that is on the table.": "holding G",
    "Put the blue cube on another plate.": "on B pR | on B pG",
    "Put another cube on the blue plate.": "on G pB | on R pB",
    "Move the blue cube to one of the other plates.": "on B pR | on B pG",
    "Pick and place the blue cube on a different plate.": "on B pR | on B pG",
    "Put the green cube on an empty plate.": "on G pR | on G pG",
    "Put the cubes that are not on a plate on the red plate.": "on R pR, on G pR",
    "Clear the plates.": "on B T",
    "Put the green cube on the blue plate and the red cube on the red plate.": "on G pB, on R pR",
}


@pytest.mark.parametrize(("text", "meaning"), STACKED_TEXTS.items())
def test_where_things_are_tells_which_are_meant(text: str, meaning: str) -> None:
    assert set(understand(task(text), STACKED)) == goals(meaning)


ALL_TEXTS = [(text, scene()) for texts in MEANINGS.values() for text in texts]
ALL_TEXTS += [(text, STACKED) for text in STACKED_TEXTS] + [(text, SHUFFLED) for text in SHUFFLED_TEXTS]


def test_the_critics_have_nothing_against_the_builtin_drafts() -> None:
    """Else a task would be understood and then refused."""
    vocabulary = TabletopVocabulary()
    for text, seen in ALL_TEXTS:
        request = PlanRequest(attempt="1", task=task(text), observation=seen, skills=())
        draft = BuiltinProposer().draft(request, None, None)
        domain, problem = parse(draft.domain, draft.problem)
        assert contradictions(domain, problem, seen, vocabulary.extensions(seen)) == [], text
        assert off_topic(problem, vocabulary.required(request.task, seen)) == "", text


def test_a_modifier_that_distinguishes_nothing_yields_to_a_second_place() -> None:
    """The green cube is on the green plate already; still two cubes shall be placed, not one from there."""
    seen = scene(on={"cube_green": "plate_green"})
    text = "Put the green cube on the green plate and the blue cube on the blue plate."
    assert set(understand(task(text), seen)) == goals("on G pG, on B pB")


def test_two_readings_that_differ_are_not_chosen_from() -> None:
    """With red on green already, "the red cube on the green cube" may be the thing or its place."""
    seen = scene(on={"cube_red": "cube_green"})
    assert set(understand(task("Pick up the red cube on the green cube."), seen)) == goals("holding R")


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
    assert set(found) == goals(
        "on R B, on B T | on R G, on G T | on B R, on R T | on B G, on G T | on G R, on R T | on G B, on B T"
    )
    held = understand(task("Pick up a cube from the table."), seen)
    assert set(held) == {frozenset({("put_down", c), ("holding", c)}) for c in CUBES}
