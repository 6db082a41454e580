"""Port: a selector that scores candidate plans and learns from the outcomes of its choices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from spca_core.model import Record
from spca_programs.plan_world import Candidate, ChoiceContext


class Experience(Record):
    """One choice to learn from; `last` ends an episode.

    Experiences are in the order in which they were made.
    """

    context: ChoiceContext
    candidates: tuple[Candidate, ...]
    chosen: int
    probability: float
    """Probability of the choice at the time it was made."""
    value: float
    """The critic's value estimate at that time."""
    reward: float
    last: bool
    outcomes: tuple[float, ...] = ()
    """The rewards to come that trying each candidate out told; empty where it was not done."""


class Selector(Protocol):
    """Scores candidate plans.

    The caller samples from the probabilities during training and takes the highest at test time.
    """

    name: str

    def score(self, context: ChoiceContext, candidates: Sequence[Candidate]) -> tuple[np.ndarray, float]:
        """Probabilities, shape (len(candidates),), that sum to 1, and the expected discounted return."""
        ...

    def learn(self, batch: Sequence[Experience]) -> float:
        """Update the policy from a batch of consecutive choices; return its mean entropy in the last epoch.

        Where some have `outcomes`, only these count, and they may come from any time.
        """
        ...

    def save(self, path: Path) -> None:
        """Write everything that `load` needs, learning state included, as one file."""
        ...

    def load(self, path: Path) -> None:
        """Load the state from a file.

        Raises InputError for a damaged or foreign file. Loading executes no code.
        """
        ...
