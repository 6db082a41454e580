"""The corridor's own proposer: it reads the goal's cell from the task."""

from __future__ import annotations

import re
from pathlib import Path

from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.proposer import NotUnderstood, PlanProposer
from spca_core.scene import Observation

DOMAIN = Path(__file__).with_name("domain.pddl").read_text()


class CorridorProposer(PlanProposer):
    """See `spca_core.ports.proposer.PlanProposer`."""

    name = "builtin"

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """The draft for "Go to cN.". Raises NotUnderstood for any other task."""
        goal = re.fullmatch(r"Go to (c\d+)\.", request.task.description)
        if goal is None:
            raise NotUnderstood("What works is a task such as: 'Go to c5.'")
        return Draft(domain=DOMAIN, problem=_problem(goal.group(1), request.observation))


def _problem(goal: str, seen: Observation) -> str:
    facts = " ".join(f"({fact.predicate} {' '.join(fact.args)})" for fact in seen.facts)
    return f"""(define (problem walk) (:domain corridor)
  (:objects {" ".join(seen.objects)} - cell)
  (:init {facts})
  (:goal (at {goal})))"""
