"""The builtin proposer: task texts understood by a grammar, without a network, the same way every time."""

from __future__ import annotations

import re
from contextlib import suppress

from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.proposer import Impossible, NotUnderstood, PlanProposer
from spca_core.relation import things_of
from spca_core.scene import Observation
from spca_tabletop.language.goal import RULES, Atom, Goal
from spca_tabletop.language.understanding import nearest, uncovering, understand
from spca_tabletop.language.words import told_slips
from spca_tabletop.plan.problem import domain, goals_of, initial, problem, written

_WHETHER = re.compile(r"(?i)(?:can|may|would|will) ((?:the|a|any|all) [^.?!]+?) (?:go|fit) ([^.?!]+)\?")


class BuiltinProposer(PlanProposer):
    """A `PlanProposer` for the tabletop.

    Its domain is always the same; the problem is made from what is seen.
    """

    name = "builtin"
    domains = (domain(),)

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """Return the draft. Raises NotUnderstood or Impossible, in plain words, rather than guess."""
        goals = _doubted(_standing_goals(request) or _understood(request), request)
        return Draft(
            domain=domain(),
            problem=problem(request.observation, goals),
            remark=told_slips(request.task.description or request.task.title),
            goals=written(goals),
        )

    def alternatives(self, draft: Draft, observation: Observation) -> list[Draft]:
        """See `PlanProposer`: one goal each, where any of several will do."""
        if draft.domain != domain():
            return []
        goals = goals_of(draft)
        found = []
        for goal in goals if len(goals) > 1 else ():
            with suppress(Impossible):
                update = {"problem": problem(observation, [goal]), "goals": written([goal])}
                found.append(draft.model_copy(update=update))
        return found


def _understood(request: PlanRequest) -> list[Goal]:
    """Return the task's goals; to uncover what is hidden, first of all, if it seems to speak of that.

    A refusal asks about the nearest sentence that is understood, where there is one.
    """
    try:
        goals = understand(request.task, request.observation)
    except (NotUnderstood, Impossible) as error:
        if goals := uncovering(request.task, request.observation, request.previous):
            return goals
        if isinstance(error, NotUnderstood) and (text := nearest(request.task, request.observation)):
            raise NotUnderstood(f'{error} Shall I do just this: "{text}"?', proposal=text) from error
        raise
    if whether := _WHETHER.fullmatch(request.task.description or request.task.title):
        text = f"put {whether[1]} {whether[2]}"
        raise NotUnderstood(f'I cannot say whether it can; shall I do it: "{text}"?', proposal=text)
    return goals


def _doubted(goals: list[Goal], request: PlanRequest) -> list[Goal]:
    """Return the goals, with things to be put beside each other anew that only seem to touch.

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
    """Return the goals of the plan that failed: "the left cube" stays the same when things have moved since.

    Empty where there are none, or where they were only to bring to light what the task may be about. Raises
    Impossible where what the task is about is gone: what is left of it is not what was asked for.
    """
    previous = request.previous
    if request.mode != "replan" or previous is None or previous.domain != domain() or previous.uncovers:
        return []
    goals = [
        frozenset(atom for atom in goal if atom[0] != "put_down" or ("on", atom[1], TABLE_SYMBOL) in goal)
        for goal in goals_of(previous)
    ]
    known = {*request.observation.objects, TABLE_SYMBOL, GROUND_SYMBOL}
    about = [{thing for atom in goal for name in atom[1:] for thing in things_of(name)} for goal in goals]
    if left := [goal for goal, things in zip(goals, about, strict=True) if things <= known]:
        return left
    gone = sorted(set().union(*about) - known)
    raise Impossible(f"I cannot see the {words_of(gone[0])} any more, which the task is about.")
