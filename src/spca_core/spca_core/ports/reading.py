"""Ports: what plans and libraries of skills say, read for whoever does not know their languages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from spca_core.evidence import Evidence
from spca_core.observation import Observation
from spca_core.plan import Draft, Plan
from spca_core.skill import SkillSignature


class PlanReader(Protocol):
    """Reads what the domain and the problem of a plan say, in one environment."""

    def goal(self, draft: Draft) -> str:
        """Say the goal in plain words; empty for a draft that cannot be read."""
        ...

    def met(self, draft: Draft, seen: Observation) -> str:
        """Say the first of several ways to reach the goal that is seen to hold; empty where none is told."""
        ...

    def say(self, ways: Sequence[frozenset[tuple[str, ...]]]) -> str:
        """Say goals any of which will do, each a set of ground atoms, as one phrase in plain words."""
        ...

    def predicted(self, plan: Plan) -> tuple[str, ...]:
        """Spell out what each step changes, and the goal; empty for a plan that cannot be read."""
        ...

    def weigh(
        self,
        plan: Plan,
        seen: Sequence[Observation | None],
        afterwards: Observation | None,
        before: Observation | None = None,
    ) -> Evidence:
        """Compare a plan's predictions with what was observed.

        Args:
            plan: what was carried out.
            seen: the look after each executed step; None where there was none.
            afterwards: the look at the end.
            before: the look before the first step, to find out what else has moved since.

        Returns:
            What was seen of each step's effects and of the goal; empty for a plan that cannot be read.
        """
        ...


class SkillReader(Protocol):
    """Reads libraries of skills, which are source text. Each raises InputError for what is not source."""

    def signatures(self, library: str) -> tuple[SkillSignature, ...]:
        """List the skills as a planner sees them."""
        ...

    def meaning(self, library: str, actions: Collection[str]) -> str:
        """Return a text that is the same for libraries in which these actions' skills do the same."""
        ...

    def restored(self, library: str, proven: str, actions: Collection[str]) -> str:
        """Return `library` with these actions' skills as in `proven`, or without those that are not there."""
        ...
