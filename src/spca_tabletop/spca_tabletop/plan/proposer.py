"""The builtin proposer: task texts understood by a grammar, without a network, the same way every time."""

from __future__ import annotations

from spca_core.plan import Draft, PlanRequest, Rejection
from spca_tabletop.language.understanding import describe, understand
from spca_tabletop.plan.problem import domain, problem


class BuiltinProposer:
    """A `PlanProposer` for the tabletop.

    Its domain is always the same; the problem is made from what is seen.
    """

    name = "builtin"
    domains = (domain(),)

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """The draft. Raises NotUnderstood or Impossible, in plain words, rather than guess."""
        goals = understand(request.task, request.observation)
        return Draft(
            domain=domain(), problem=problem(request.observation, goals), remark=f"Goal: {describe(goals)}."
        )
