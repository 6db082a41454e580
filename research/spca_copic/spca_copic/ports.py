"""Ports: who writes planning programs, and what chooses among their plans and learns from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from spca_core.result import Usage
from spca_programs.plan_world import Briefing, Candidate, ChoiceContext, Episode, Experience, PlanningProgram


class ProgramProposer(Protocol):
    """Its programs are untrusted.

    The same seed and arguments give the same programs (with a model, only in a replay).
    """

    name: str

    @property
    def usage(self) -> Usage:
        """Cost of all requests so far; zero where no model is used."""

    def write(self, briefing: Briefing, count: int, seed: int) -> list[PlanningProgram]:
        """First programs. Raises ModelError when a model gives none that can be used."""

    def evolve(
        self,
        briefing: Briefing,
        programs: Sequence[PlanningProgram],
        episodes: Sequence[Episode],
        count: int,
        seed: int,
    ) -> list[PlanningProgram]:
        """New programs, based on the present ones and on the latest episodes they were used in."""


class Selector(Protocol):
    """Scores candidate plans.

    The caller samples from the probabilities during training and takes the highest at test time.
    """

    name: str

    def score(self, context: ChoiceContext, candidates: Sequence[Candidate]) -> tuple[np.ndarray, float]:
        """Probabilities, shape (len(candidates),), that sum to 1, and the expected discounted return."""

    def learn(self, batch: Sequence[Experience]) -> float:
        """Update the policy from a batch of consecutive choices; return its mean entropy in the last epoch.

        Where some have `outcomes`, only these count, and they may come from any time.
        """

    def save(self, path: Path) -> None:
        """Write everything that `load` needs, learning state included, as one file."""

    def load(self, path: Path) -> None:
        """Load the state from a file.

        Raises InputError for a damaged or foreign file. Loading executes no code.
        """
