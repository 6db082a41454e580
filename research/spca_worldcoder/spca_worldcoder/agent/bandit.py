"""Choice of the program to refine: Thompson sampling over programs; each refinement opens an arm (REx)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spca_programs.experience import Program, Verdict
from spca_worldcoder.options import Strategy

_CONSTANT = 5.0
"""C in the prior of an arm (published)."""


@dataclass
class Arm:
    """A program that may be refined.

    Its prior is Beta(1 + C h, 1 + C (1 - h)), h being the share it explains.
    """

    program: Program | None
    """None: write one from scratch."""
    verdict: Verdict
    alpha: float
    beta: float
    tries: int = 0


class Bandit:
    """Chooses arms and grows new ones."""

    def __init__(self, rng: np.random.Generator, strategy: Strategy = "bandit") -> None:
        self._rng, self._strategy = rng, strategy
        # Writing from scratch begins at a program that explains nothing: the prior of h = 0.
        self.arms = [Arm(None, Verdict(explained=0.0), 1.0, 1 + _CONSTANT)]

    def add(self, program: Program, verdict: Verdict) -> Arm:
        """A new arm."""
        h = verdict.explained
        arm = Arm(program, verdict, 1 + _CONSTANT * h, 1 + _CONSTANT * (1 - h))
        self.arms.append(arm)
        return arm

    def choose(self) -> Arm:
        """The arm to refine next."""
        if self._strategy == "breadth":
            return min(self.arms, key=lambda arm: arm.tries)
        if self._strategy == "greedy":
            return max(
                self.arms, key=lambda arm: (arm.verdict.explained, arm.program is not None, -arm.tries)
            )
        return max(self.arms, key=lambda arm: self._rng.beta(arm.alpha, arm.beta))

    def report(self, arm: Arm, solved: bool) -> None:
        """Tell how a refinement of an arm went."""
        arm.tries += 1
        if solved:
            arm.alpha += 1
        else:
            arm.beta += 1


def search(
    bandit: Bandit,
    draft: Callable[[Arm], tuple[Program, Verdict] | None],
    good: Callable[[Program, Verdict], bool],
    budget: int,
    most_repeats: int | None = 3,
) -> tuple[Program, Verdict] | None:
    """Refine until a program is good or the budget is used up; then the arm that explains most, or None.

    `draft` gives a child of an arm, or None when its writer failed. After `most_repeats` known programs in a
    row the writer has nothing more to say; None: it is asked to the end, as published.
    """
    known = [(arm.program, arm.verdict) for arm in bandit.arms if arm.program is not None]
    repeats = 0
    for _ in range(budget):
        arm = bandit.choose()
        made = draft(arm)
        solved = made is not None and good(*made)
        bandit.report(arm, solved)
        if made is None:
            continue
        if solved:
            return made
        repeats = repeats + 1 if any(one.source == made[0].source for one, _ in known) else 0
        known.append(made)
        if repeats == most_repeats:
            break
        bandit.add(*made)
    return max(known, key=lambda made: made[1].explained, default=None)
