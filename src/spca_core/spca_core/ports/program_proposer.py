"""Port: who writes planning programs, and writes better ones from what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spca_core.plan_world import Briefing, Episode, PlanningProgram
from spca_core.ports.chat import ChatUsage


class ProgramProposer(Protocol):
    """Its programs are untrusted.

    The same seed and the same arguments give the same programs (a model: if replayed).
    """

    name: str

    @property
    def usage(self) -> ChatUsage:
        """What all writing has taken so far; zero where no model is asked."""
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
        """New programs, from the present ones and the last episodes that they (and their choice) led to."""
        ...
