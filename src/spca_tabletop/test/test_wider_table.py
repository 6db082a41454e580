"""Tasks with other kinds of things: what they mean, and what is refused."""

from functools import lru_cache
from pathlib import Path

import pytest

from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_core.validation import parse_yaml
from spca_tabletop.language.understanding import understand
from spca_tabletop.level_check import nominal_observation
from spca_tabletop.plan.problem import problem
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
