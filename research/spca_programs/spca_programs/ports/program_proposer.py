"""Port: a proposer that writes planning programs and improves them from experience."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spca_core.result import Usage
from spca_programs.plan_world import Briefing, Episode, PlanningProgram


class ProgramProposer(Protocol):
    """Its programs are untrusted.

    The same seed and arguments give the same programs (with a model, only in a replay).
    """

    name: str

    @property
    def usage(self) -> Usage:
        """Cost of all requests so far; zero where no model is used."""
        ...

    def write(self, briefing: Briefing, count: int, seed: int) -> list[PlanningProgram]:
        """First programs. Raises ModelError when a model gives none that can be used."""
        ...

    def evolve(
        self,
        briefing: Briefing,
        programs: Sequence[PlanningProgram],
        episodes: Sequence[Episode],
        count: int,
        seed: int,
    ) -> list[PlanningProgram]:
        """New programs, based on the present ones and on the latest episodes they were used in."""
        ...
