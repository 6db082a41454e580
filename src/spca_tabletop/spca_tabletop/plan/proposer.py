"""The builtin proposer: task texts understood by a grammar, without a network, the same way every time."""

from __future__ import annotations

from contextlib import suppress

from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.observation import Observation
from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_tabletop.language.goal import RULES, Atom, Goal
from spca_tabletop.language.understanding import describe, uncovering, understand
from spca_tabletop.plan.problem import domain, goals_of, initial, problem


class BuiltinProposer:
    """A `PlanProposer` for the tabletop.

    Its domain is always the same; the problem is made from what is seen.
    """

    name = "builtin"
    domains = (domain(),)

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """The draft. Raises NotUnderstood or Impossible, in plain words, rather than guess."""
        goals = _doubted(_standing_goals(request) or _understood(request), request)
        return Draft(
            domain=domain(), problem=problem(request.observation, goals), remark=f"Goal: {describe(goals)}."
        )

    def alternatives(self, draft: Draft, observation: Observation) -> list[Draft]:
        """See `GivesAlternatives`: one goal each, where any of several will do."""
        if draft.domain != domain():
            return []
        goals = goals_of(draft.problem)
        found = []
        for goal in goals if len(goals) > 1 else ():
            with suppress(Impossible):
                found.append(draft.model_copy(update={"problem": problem(observation, [goal])}))
        return found


def _understood(request: PlanRequest) -> list[Goal]:
    """Return the task's goals; to uncover what is hidden, first of all, if it seems to speak of that."""
    try:
        return understand(request.task, request.observation)
    except (NotUnderstood, Impossible):
        if goals := uncovering(request.task, request.observation):
            return goals
        raise


def _doubted(goals: list[Goal], request: PlanRequest) -> list[Goal]:
    """The goals, with things to be put beside each other anew that only seem to touch.

    They do where a goal is seen to hold and the task is not done because two of its things do not touch.
    """
    if request.mode != "replan":
        return goals
    facts = set(initial(request.observation))

    def apart(atom: Atom) -> bool:
        beside = atom[0] in ("next_to", "abreast")
        return beside and all(words_of(name) in request.failure for name in atom[1:])

    return [
        goal | {("put_down", a[1]) for a in goal if apart(a)}
        if all(a in facts for a in goal if a[0] not in RULES)
        else goal
        for goal in goals
    ]


def _standing_goals(request: PlanRequest) -> list[Goal]:
    """The goals of the plan that failed, as far as they are still possible.

    "The left cube" stays the same cube when things have been moved since. Empty where there are none, or
    where one of them is seen to hold and the task is not done all the same.
    """
    if request.mode != "replan" or request.previous is None or request.previous.domain != domain():
        return []
    seen = request.observation
    facts = set(initial(seen))
    known = {*seen.objects, TABLE_SYMBOL, GROUND_SYMBOL}
    goals = [g for g in goals_of(request.previous.problem) if all(known.issuperset(a[1:]) for a in g)]
    leaning = {("on", *atom[1:]) for atom in facts if atom[0] == "on_edge"}
    met = any(all(a in facts - leaning for a in goal if a[0] not in RULES) for goal in goals)
    return [] if met else goals
