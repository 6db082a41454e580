"""Tasks with other kinds of things: what they mean, what is refused, and how they are planned."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pytest

from spca_core.plan import PlanRequest, PlanResult
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.scene import Observation
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_tabletop.language.understanding import understand
from spca_tabletop.level_check import nominal_observation
from spca_tabletop.plan.problem import problem
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import scene, task

nominal = lru_cache(nominal_observation)

MEANINGS = [
    (
        "bowls_01",
        "Put the cube that is to the right of the blue one into the yellow bowl.",
        "on cube_red bowl_yellow",
    ),
    ("bowls_01", "Put the cube left of the green one in its bowl.", "on cube_yellow bowl_yellow"),
    ("bowls_01", "Put the green cube in the red bowl and take it.", None),
    ("mats_01", "Swap the red and the blue cube.", "on cube_blue mat_yellow, on cube_red mat_purple"),
    (
        "mats_01",
        "Exchange the red cube with the blue one.",
        "on cube_blue mat_yellow, on cube_red mat_purple",
    ),
    ("bowls_01", "Swap the red and the blue cube.", "at cube_red at__400__0, at cube_blue at__420__m150"),
    ("mats_01", "Empty the yellow mat.", "on cube_red table"),
    (
        "mats_03",
        "On the orange mat, build a tower: red lowest, then green, then blue on top.",
        "on cube_blue cube_green, on cube_green cube_red, on cube_red mat_orange",
    ),
    (
        "mats_03",
        "Build a tower of three on the orange mat, red lowest, then blue, then green.",
        "on cube_blue cube_red, on cube_green cube_blue, on cube_red mat_orange",
    ),
    (
        "sorting_01",
        "Put both red cubes into the blue tray.",
        "on cube_red tray_blue, on cube_red_2 tray_blue",
    ),
    ("sorting_01", "Put the left red cube in the red tray.", "on cube_red tray_red"),
    ("sorting_01", "Put the right blue block into the red tray.", "on cube_blue_2 tray_red"),
    ("shapes_01", "Put the ball into the bowl.", "on ball_cyan bowl_blue"),
    ("shapes_01", "Put the green cylinder beside the bowl.", "next_to cylinder_green bowl_blue"),
    ("shapes_01", "Put the cylinder touching the cube.", "next_to cylinder_green cube_red"),
    ("shapes_01", "Put the red cube on the largest block.", "on cube_red cuboid_pink"),
    ("stack_01", "Pick up the cube nearest to the red plate.", "holding cube_red"),
    ("stack_01", "Pick up the cube nearest the red plate.", "holding cube_red"),
    ("stack_01", "Touch the cube that is farthest from the red plate.", "touched cube_green"),
    (
        "stack_01",
        "Put the cube which is closest to the green plate onto the blue plate.",
        "on cube_green plate_blue",
    ),
    ("stack_01", "Put the blue cube on the plate farthest from the red cube.", "on cube_blue plate_green"),
    ("packing_05", "Stand the violet cylinder on the blue cube.", "on cylinder_purple cube_blue"),
    ("crowd_01", "Put the orange disc on the blue cube.", "on cylinder_orange cube_blue"),
    ("hanoi_03", "Stack the smallest block on the medium block.", "on cuboid_blue cuboid_green"),
]


@pytest.mark.parametrize(("level", "text", "meaning"), MEANINGS, ids=[m[1] for m in MEANINGS])
def test_text_means(level: str, text: str, meaning: str | None) -> None:
    if meaning is None:
        with pytest.raises((NotUnderstood, Impossible)):
            understand(task(text), nominal(level))
        return
    wanted = {tuple(atom.split()) for atom in meaning.split(", ")}
    for goal in understand(task(text), nominal(level)):
        assert wanted <= goal
        assert {atom for atom in goal - wanted if atom[2:] != ("table",)} == set()


CHOICES = [
    ("sorting_01", "Put a red cube into the red tray and the other one into the blue tray.", 2),
    ("sorting_01", "Put a red cube into the red tray and the other red cube into the blue tray.", 2),
    ("packing_01", "Put two cubes into the tray.", 3),
    ("packing_01", "Put two of the cubes into the tray.", 3),
    ("sorting_01", "Put a red cube on a blue cube.", 4),
    ("sorting_01", "Put one red and one blue cube in each tray.", 4),
    ("bowls_01", "Put the cubes in a bowl.", 24),  # each in its own: there is no room for four in one
    ("bowls_01", "Put the red and blue cubes in a bowl.", 4),  # both in one: there is room for two
    ("bowls_01", "Put two cubes into the red bowl.", 6),
    ("mats_01", "Put all the cubes on a mat.", 6),
    ("stack_01", "Put the cubes on a plate.", 3),  # all on one: there is room for them
]


@pytest.mark.parametrize(("level", "text", "count"), CHOICES, ids=[c[1] for c in CHOICES])
def test_what_is_left_open_stays_open(level: str, text: str, count: int) -> None:
    assert len(understand(task(text), nominal(level))) == count


REFUSED = [
    ("stack_01", "Lift the red cube above the blue plate.", "not over a certain place"),
    ("stack_01", "Move the red cube away from the blue cube.", "does not lie on the blue cube"),
    ("stack_01", "Put the red cube far from the blue cube.", "where to put it"),
    ("stack_01", "Put the red cube on the red plate except the blue one.", "leaves out"),
    ("packing_01", "Put two cubes in each tray and touch the tray twice.", "'twice'"),
    ("stack_01", "Pick up the cube closest to the cubes.", "the one thing that is closest to"),
    ("stack_01", "Put the other cubes on the red plate.", "'the other cubes' means"),
    ("bowls_01", "Put every cube except the red bowl on the table.", "none of those"),
    ("sorting_01", "Put the red cube into the red tray.", "which one 'the red cube' is"),
    ("sorting_01", "Put the other red cube into the red tray.", "'the other red cube' means"),
    ("bowls_01", "Put the cube that is to the left of the red one into its bowl.", "which one"),
    (
        "bowls_01",
        "Put the cube that is to the right of the red one into the red bowl.",
        "no cube that is right of",
    ),
    ("bowls_01", "Put three cubes into the red bowl.", "no room for more than 2 of these"),
    ("bowls_01", "Put the cubes in a red bowl.", "The red bowl has no room for more than 2 of these."),
    ("bowls_01", "Put the largest cube into the red bowl.", "of the same size"),
    ("shapes_01", "Put the ball on the plate.", "would roll off"),
    ("shapes_01", "Put the red cube on the ball.", "Nothing stays on"),
    ("shapes_01", "Put the bowl on the plate.", "cannot move the blue bowl"),
    ("pyramid_01", "Build a pyramid of five cubes.", "three or six"),
    ("mats_03", "Swap the red cube and any other cube.", "two certain things"),
    ("hanoi_02", "Only the red block shall remain on the yellow mat.", "on the yellow mat now; say where"),
    ("hanoi_02", "Put red on the purple mat, but leave the other two untouched.", "is on what has to move"),
    ("shapes_01", "Put the cuboid on the plate.", "which one 'the cuboid' is"),
]


@pytest.mark.parametrize(("level", "text", "words"), REFUSED, ids=[r[1] for r in REFUSED])
def test_is_refused_rather_than_guessed(level: str, text: str, words: str) -> None:
    with pytest.raises((NotUnderstood, Impossible), match=words):
        understand(task(text), nominal(level))


def test_things_of_one_size_have_no_smallest() -> None:
    with pytest.raises(NotUnderstood, match="of the same size"):
        understand(task("Put the smallest cube on the red plate."), scene())


def test_what_the_gripper_cannot_take_is_refused_with_the_reason() -> None:
    seen = nominal("shapes_01")
    goals = understand(task("Pick up the pink cuboid."), seen)
    with pytest.raises(Impossible, match=r"pink cuboid is too large to be picked up: it is 10.0 cm wide"):
        problem(seen, goals)
    assert problem(seen, understand(task("Put the red cube on the pink cuboid."), seen))


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DraftingPlanner]:
    folder = tmp_path_factory.mktemp("trusted")
    with DraftingPlanner("tabletop", BuiltinProposer(), TrustedDomains(folder), TabletopVocabulary()) as made:
        yield made


def plan(planner: DraftingPlanner, seen: Observation, text: str) -> PlanResult:
    return planner.plan(PlanRequest(attempt="1", task=task(text), observation=seen, skills=()))


def test_a_rule_holds_on_the_way_not_only_in_the_end(planner: DraftingPlanner) -> None:
    """Three blocks of Hanoi take seven moves; without the rule they would take five."""
    seen = nominal("hanoi_02")
    tower = "Build a tower on the orange mat: red at the bottom, green in the middle, blue on top."
    rule = " Never put a larger block on a smaller one. Never put a block on the table."
    for text, moves in ((tower, 5), (tower + rule, 7)):
        result = plan(planner, seen, text)
        assert result.plan is not None, result.message
        places = [s for s in result.plan.steps if s.action in ("place_on", "stack_on", "place_on_table")]
        assert len(places) == moves, [str(s) for s in result.plan.steps]


def test_a_swap_without_the_table_goes_by_the_free_mat(planner: DraftingPlanner) -> None:
    result = plan(
        planner, nominal("mats_01"), "Swap the red and the blue cube. Never put a cube on the table."
    )
    assert result.plan is not None, result.message
    steps = [str(s) for s in result.plan.steps]
    assert len(steps) == 6
    assert any("mat_orange" in s for s in steps)


def test_a_swap_on_the_table_goes_by_a_third_place(planner: DraftingPlanner) -> None:
    result = plan(planner, nominal("bowls_01"), "Swap the red and the blue cube.")
    assert result.plan is not None, result.message
    assert [str(s) for s in result.plan.steps if s.action.startswith("place")] == [
        "place_on_table(cube_blue)",
        "place_at(cube_red, at__400__0)",
        "place_at(cube_blue, at__420__m150)",
    ]
