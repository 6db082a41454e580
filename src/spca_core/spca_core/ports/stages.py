"""Ports: the planning and coding stages as the supervisor sees them.

They run in the same process or behind ROS actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from spca_core.plan import CodeRequest, CodeResult, DraftRecord, PlanRequest, PlanResult


class Planner(Protocol):
    """Turns an observation and a task into a validated plan, within a budget of drafts."""

    def plan(
        self,
        request: PlanRequest,
        on_draft: Callable[[DraftRecord], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> PlanResult:
        """Never raises for bad drafts: the result's status tells."""
        ...

    def learned(self, request: PlanRequest, result: PlanResult) -> None:
        """The referee said success: the domain of this plan may be trusted for its task group."""
        ...


class Coder(Protocol):
    """Makes sure that every action of a plan has a skill."""

    def complete(self, request: CodeRequest, cancelled: Callable[[], bool] = lambda: False) -> CodeResult:
        """Never raises for bad code: the result's status tells.

        Without a model, `missing` names what lacks.
        """
        ...
