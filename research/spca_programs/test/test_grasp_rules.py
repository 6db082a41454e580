"""GRASP's grids, rules and scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.errors import InputError
from spca_programs.grasp.generate import generate
from spca_programs.grasp.grid import Grid
from spca_programs.grasp.rules import Rules, play
from spca_programs.options import ENERGIES, STARTS

BY_HAND = """
    0   1   2   3   4   5   6   7   8   9   10 
  +---+---+---+---+---+---+---+---+---+---+---+
 0| A | E |   |   |   |   |   |   |   |   |   |
 1| E | E | O |   |   |   |   |   |   |   |   |
""" + "\n".join(f"{row:>2}|" + "   |" * 11 for row in range(2, 11))  # noqa: W291

grids = st.builds(
    lambda energy, obstacles, start, seed: generate(energy, obstacles, start, np.random.default_rng(seed)),
    st.sampled_from(ENERGIES),
    st.booleans(),
    st.sampled_from(STARTS),
    st.integers(0, 2**32 - 1),
)


@given(grids)
def test_text_form_goes_out_and_in(grid: Grid) -> None:
    assert Grid.from_text(grid.to_text()) == grid
    assert Grid.from_rows(grid.rows()) == grid


def test_bad_text_is_told_in_one_line() -> None:
    with pytest.raises(InputError, match=r"^unknown cell 'X' \(there\): cells are blank, E, O or A$"):
        Grid.from_text(BY_HAND.replace("O", "X"), "there")


@pytest.mark.parametrize(
    ("plan", "of", "delivered", "problem"),
    [
        (["RIGHT", "TAKE", "LEFT", "DROP"], Rules(), 1, ""),
        (["UP"], Rules(), 0, "the edge of the grid"),
        (["TAKE"], Rules(), 0, "no energy here"),
        (["DOWNRIGHT"], Rules(), 0, "diagonal moves are not allowed"),
        (["DOWNRIGHT", "TAKE", "UPLEFT", "DROP"], Rules(diagonals=True), 1, ""),
        (["RIGHT", "TAKE", "DOWN", "RIGHT"], Rules(), 0, "an obstacle at (1, 2)"),
        (["RIGHT", "TAKE", "DOWN", "TAKE"], Rules(carry_limit=1), 0, "already carrying 1, the limit"),
        # DROP drops everything, TAKE takes one: the second of two brought home is taken up again.
        (["RIGHT", "TAKE", "DOWN", "TAKE", "LEFT", "UP", "DROP", "TAKE"], Rules(), 1, ""),
    ],
)
def test_each_rule(plan: list[str], of: Rules, delivered: int, problem: str) -> None:
    played = play(Grid.from_text(BY_HAND), of, plan)
    assert (played.delivered, played.effects[-1].problem) == (delivered, problem)


def test_every_action_costs_and_only_twenty_count() -> None:
    grid, costly = Grid.from_text(BY_HAND), Rules(cost=0.3)
    assert play(grid, costly, ["RIGHT", "TAKE", "LEFT", "DROP"]).score == pytest.approx(1 - 4 * 0.3)
    assert play(grid, costly, ["UP"] * 30).score == pytest.approx(-20 * 0.3)
    late = ["RIGHT", "TAKE", *["UP"] * 16, "LEFT", "DROP"]
    assert play(grid, Rules(), late).delivered == 1
    assert play(grid, Rules(), ["UP", *late]).delivered == 0
