"""Tasks with other kinds of things: what they mean, what is refused, and how they are planned."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from spca_core.plan import PlanRequest, PlanResult
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.scene import Observation
from spca_core.validation import parse_yaml
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_tabletop.language.understanding import understand
from spca_tabletop.level_check import nominal_observation
from spca_tabletop.plan.problem import problem
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import scene, task

nominal = lru_cache(nominal_observation)

TABLES = parse_yaml((Path(__file__).parent / "tables.yaml").read_text())


def told(part: str) -> pytest.MarkDecorator:
    """Each text of a part with its level and what is said of it."""
    rows = [(level, text, what) for level, texts in TABLES[part].items() for text, what in texts.items()]
    return pytest.mark.parametrize(("level", "text", "what"), rows, ids=[row[1] for row in rows])


@told("meanings")
def test_text_means(level: str, text: str, what: str) -> None:
    wanted = {tuple(atom.split()) for atom in what.split(", ")}
    for goal in understand(task(text), nominal(level)):
        assert wanted <= goal
        assert {atom for atom in goal - wanted if atom[2:] != ("table",)} == set()


@told("open")
def test_what_is_left_open_stays_open(level: str, text: str, what: int) -> None:
    assert len(understand(task(text), nominal(level))) == what


@told("refused")
def test_is_refused_rather_than_guessed(level: str, text: str, what: str) -> None:
    with pytest.raises((NotUnderstood, Impossible), match=what):
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


def test_a_swap_on_the_table_goes_by_a_third_place(planner: DraftingPlanner) -> None:
    result = plan(planner, nominal("bowls_01"), "Swap the red and the blue cube.")
    assert result.plan is not None, result.message
    assert [str(s) for s in result.plan.steps if s.action.startswith("place")] == [
        "place_on_table(cube_blue)",
        "place_at(cube_red, at__400__0)",
        "place_at(cube_blue, at__420__m150)",
    ]
