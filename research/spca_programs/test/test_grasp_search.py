"""Searches and policies for GRASP: the exact solver is exact, and the figures are the published ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_benchmarks.campaigns.published import published
from spca_programs.grasp.dataset import environments, generated
from spca_programs.grasp.generate import generate
from spca_programs.grasp.grid import Grid
from spca_programs.grasp.policy import answers_of
from spca_programs.grasp.rules import MOVES, Rules, play
from spca_programs.grasp.search import solve


def best_by_trying_everything(grid: Grid, rules: Rules) -> float:
    """The best score over all action sequences, by going through every state that can be reached."""
    energy = frozenset((int(r), int(c)) for r, c in np.argwhere(grid.energy))
    size = grid.energy.shape[0]
    states = {(grid.start, 0, energy, ())}  # position, carried, energy in its place, put down (cell, amount)
    best = 0.0
    for used in range(1, rules.max_actions + 1):
        following = set()
        for position, carried, left, put_down in states:
            down = dict(put_down)
            for move in rules.moves:
                there = (position[0] + MOVES[move][0], position[1] + MOVES[move][1])
                if 0 <= there[0] < size and 0 <= there[1] < size and not grid.obstacle[there]:
                    following.add((there, carried, left, put_down))
            if rules.carry_limit is None or carried < rules.carry_limit:
                if position in left:
                    following.add((position, carried + 1, left - {position}, put_down))
                elif down.get(position):
                    fewer = {**down, position: down[position] - 1}
                    following.add((position, carried + 1, left, tuple(sorted(fewer.items()))))
            if carried:
                more = {**down, position: down.get(position, 0) + carried}
                following.add((position, 0, left, tuple(sorted(more.items()))))
        states = following
        best = max([best, *(dict(d).get(grid.start, 0) - rules.cost * used for _, _, _, d in states)])
    return best


@given(
    seed=st.integers(0, 10_000),
    diagonals=st.booleans(),
    carry_limit=st.sampled_from([None, 1, 2]),
    cost=st.sampled_from([0.0, 0.1, 0.3]),
)
def test_exact_solver_finds_what_trying_everything_finds(
    seed: int, diagonals: bool, carry_limit: int | None, cost: float
) -> None:
    grid = generate("random", True, "inner", np.random.default_rng(seed))
    rules = Rules(diagonals=diagonals, carry_limit=carry_limit, cost=cost, max_actions=7 if diagonals else 8)
    solution = solve(grid, rules)
    assert play(grid, rules, solution.plan).score == pytest.approx(solution.score)
    assert solution.score == pytest.approx(best_by_trying_everything(grid, rules))


def test_greedy_has_the_published_score_whatever_else_is_asked() -> None:
    """Over 20 grids a family."""
    chosen = environments(generated(seed=1, count=20))
    answers = answers_of("greedy", chosen, 4)
    scores = np.array([play(e.grid, e.rules, a.plan).score for e, a in zip(chosen, answers, strict=True)])
    assert scores.mean() == pytest.approx(published("IPP", "Table 7", "GPT-o1", "Greedy"), abs=0.05)
    assert scores.std() == pytest.approx(published("IPP", "Table 7", "GPT-o1", "Greedy, sd"), abs=0.05)
    assert [a.plan for e in chosen[:8] for a in answers_of("greedy", [e], 4)] == [a.plan for a in answers[:8]]
