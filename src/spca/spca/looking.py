"""Judges a task by a look at the end: whether the goal of the plan that was carried out is seen to hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spca_core.names import words_of
from spca_core.observation import Observation
from spca_core.plan import ActResult, Draft, Plan
from spca_core.ports.environment import Environment
from spca_core.ports.vocabulary import SaysGoals, Vocabulary
from spca_core.skill import CtxApi, StepReport
from spca_core.task import Task
from spca_core.verdict import Condition, Outcome, Verdict
from spca_planner.pddl.formula import Atom
from spca_planner.pddl.lint import parse
from spca_planner.pddl.sexpr import Group, PddlError, Word
from spca_planner.prediction import ObservedAtoms, weigh


class JudgedByLook:
    """An environment whose verdict is what a look after a plan shows of that plan's goal.

    See `spca_core.ports.environment.Environment`. The referee behind it still ends a level that ran out of
    time or broke a rule; it knows no conditions of success.
    """

    def __init__(self, environment: Environment, vocabulary: Vocabulary) -> None:
        self._env, self._vocabulary = environment, vocabulary
        self.task = environment.task
        self.name, self.api, self.builtin_skills = (
            environment.name,
            environment.api,
            environment.builtin_skills,
        )
        self._acted: tuple[Plan, ActResult] | None = None
        self._seen: Verdict | None = None

    name: str
    task: Task
    api: CtxApi
    builtin_skills: Path

    def sense(self) -> Observation:
        """See `Environment`."""
        return self._env.sense()

    def act(
        self, attempt: str, plan: Plan, library: str, on_step: Callable[[StepReport], None] | None = None
    ) -> ActResult:
        """See `Environment`."""
        self._seen = None
        result = self._env.act(attempt, plan, library, on_step)
        self._acted = plan, result
        return result

    def settle(self) -> Verdict:
        """Let the world come to rest, look, and compare what is seen with the goal of the last plan."""
        verdict = self._env.settle()
        if verdict.final or self._acted is None:
            return verdict
        plan, result = self._acted
        seen = self._env.sense()
        evidence = weigh(plan, [], seen, self._vocabulary)
        goal = goal_in_words(plan.draft, self._vocabulary)
        unseen = f"a look cannot show: {in_words([frozenset(evidence.goal_unseen)], self._vocabulary)}"
        if evidence.goal is None and seen.hidden:  # the lower cubes of a tower, say
            evidence = weigh(plan, [], seen.model_copy(update={"hidden": ()}), self._vocabulary)
            if evidence.goal:
                unseen = f"remembered, not in sight now: {', '.join(map(words_of, seen.hidden))}"
                evidence = evidence.model_copy(update={"goal": None})
        if result.status != "done" and evidence.goal is not True:
            outcome, reason = Outcome.RUNNING, f"not carried out: {result.message}"
        elif evidence.goal is None:
            outcome, reason = Outcome.SUCCESS, f"carried out: {goal}; {unseen}"
        elif evidence.goal:
            outcome, reason = (
                Outcome.SUCCESS,
                f"seen to hold: {_met(plan.draft, seen, self._vocabulary) or goal}",
            )
        else:
            outcome, reason = Outcome.RUNNING, f"not seen to hold: {goal}"
        done = outcome is Outcome.SUCCESS
        condition = Condition(text=goal, holds=done, reason="" if done else reason)
        self._seen = Verdict(
            outcome=outcome,
            score=float(done),
            stamp=self._env.verdict().stamp,
            reason=reason,
            conditions=(condition,),
        )
        return self._seen

    def verdict(self) -> Verdict:
        """What the last look after a plan showed; before that, the referee's own, which has no conditions."""
        return self._seen or self._env.verdict().model_copy(update={"conditions": ()})

    def checkpoint(self) -> bytes:
        """See `Environment`."""
        return self._env.checkpoint()

    def restore(self, checkpoint: bytes) -> None:
        """See `Environment`."""
        self._seen = self._acted = None
        self._env.restore(checkpoint)

    def cancel(self) -> None:
        """See `Environment`."""
        self._env.cancel()

    def close(self) -> None:
        """See `Environment`."""
        self._env.close()


def goal_in_words(draft: Draft, vocabulary: Vocabulary) -> str:
    """The goal that a draft states in PDDL, in plain words: what will count as done, whoever drafted it."""
    try:
        goal = parse(draft.domain, draft.problem)[1].goal
    except PddlError:
        return ""
    ways = _ways(goal)
    return str(goal) if ways is None else in_words(ways, vocabulary)


def _met(draft: Draft, seen: Observation, vocabulary: Vocabulary) -> str:
    """Of several ways to reach a goal, the first that is seen to hold, in words; empty where none is told."""
    domain, problem = parse(draft.domain, draft.problem)
    look = ObservedAtoms(seen, domain, vocabulary)
    ways = _ways(problem.goal) or []
    return in_words([way for way in ways if all(look.truth(atom) for atom in way)][:1], vocabulary)


def in_words(ways: list[frozenset[Atom]], vocabulary: Vocabulary) -> str:
    """Goals any of which will do, in the words of the environment, or spelt out where it has none."""
    if isinstance(vocabulary, SaysGoals):
        return vocabulary.say(ways)
    told = [", ".join(f"{a[0]}({', '.join(map(words_of, a[1:]))})" for a in sorted(way)) for way in ways]
    return "; or ".join(told)


def _ways(condition: Group) -> list[frozenset[Atom]] | None:
    """The conjunctions of atoms any of which fulfils a condition; None for what is more complicated.

    That an atom must not hold is left out beside another one about the same things.
    """
    if condition.head == "or":
        parts = [_ways(part) for part in condition.rest if isinstance(part, Group)]
        return None if None in parts else [way for part in parts if part for way in part]
    conjuncts = condition.rest if condition.head == "and" else ((condition,) if condition.items else ())
    found: list[Atom] = []
    denied: list[Atom] = []
    for part in conjuncts:
        negative = isinstance(part, Group) and part.head == "not"
        group = part.rest[0] if isinstance(part, Group) and negative else part
        if not isinstance(group, Group) or not all(isinstance(item, Word) for item in group.items):
            return None
        atom = tuple(item.text for item in group.items if isinstance(item, Word))
        (denied if negative else found).append(atom)
    about = {atom[1:] for atom in found}
    found += [(f"not {atom[0]}", *atom[1:]) for atom in denied if atom[1:] not in about]
    return [frozenset(found)]
