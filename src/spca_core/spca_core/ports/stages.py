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
        """Plan for the request. Bad drafts never raise; the result's status reports them."""
        ...

    def learned(self, request: PlanRequest, result: PlanResult) -> None:
        """Note that the referee confirmed success: this plan's domain may be trusted for its task group."""
        ...


class Coder(Protocol):
    """Makes sure that every action of a plan has a skill."""

    def complete(self, request: CodeRequest, cancelled: Callable[[], bool] = lambda: False) -> CodeResult:
        """Write the missing skills. Bad code never raises; the result's status reports it.

        Without a model, `missing` names the actions that have no skill.
        """
        ...
