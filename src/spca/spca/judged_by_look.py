"""Tasks without a referee's rule: a look after a plan shows whether its goal holds."""

from __future__ import annotations

from collections.abc import Callable

from spca_core.names import TABLE_SYMBOL, words_of
from spca_core.plan import ActResult, Plan
from spca_core.ports.environment import Environment
from spca_core.ports.reading import PlanReader
from spca_core.result import Condition, Outcome, Verdict
from spca_core.scene import Observation
from spca_core.skill import StepReport


class JudgedByLook(Environment):
    """An environment whose verdict is what a look after a plan shows of that plan's goal.

    The referee behind it still ends a level that ran out of time or broke a rule; it knows no success.
    """

    def __init__(self, environment: Environment, reader: PlanReader) -> None:
        self._env, self._reader = environment, reader
        self.task, self.name = environment.task, environment.name
        self.api, self.builtin_skills = environment.api, environment.builtin_skills
        self._acted: tuple[Plan, ActResult] | None = None
        environment.shown = None

    def sense(self) -> Observation:
        """See `Environment`."""
        return self._env.sense()

    def act(
        self, attempt: str, plan: Plan, library: str, on_step: Callable[[StepReport], None] | None = None
    ) -> ActResult:
        """See `Environment`."""
        self._env.shown = None
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
        # What leans on something rests on the table, too: it is not on it as asked for, nor off it.
        on = {f.args for f in seen.facts if f.predicate == "on"}
        leaning = {args for args in on if args[1] != TABLE_SYMBOL and (args[0], TABLE_SYMBOL) in on}
        firm = tuple(f for f in seen.facts if f.predicate != "on" or f.args not in leaning)
        seen, aslant = seen.model_copy(update={"facts": firm}), seen
        evidence = self._reader.weigh(plan, [], seen)
        goal = self._reader.goal(plan.draft.model_copy(update={"remark": ""}))
        lost = self._reader.say([frozenset(evidence.goal_unseen)])
        shown = self._reader.met(plan.draft, seen)
        unseen = f", seen to hold: {shown}" if shown else f", not seen: {goal}" * (lost != goal)
        unseen += f"; a look cannot show: {lost}"
        memory = ""
        if evidence.goal is None and seen.hidden:  # the lower cubes of a tower, say
            hidden, seen = seen.hidden, seen.model_copy(update={"hidden": ()})
            evidence = self._reader.weigh(plan, [], seen)
            if evidence.goal:
                memory = f"; remembered, not in sight now: {', '.join(map(words_of, hidden))}"
                unseen = f", not seen: {goal}{memory}"
                moved = {step.args[0] for step in plan.steps if step.args}
                if moved.intersection(hidden):  # where it came is a guess
                    evidence = evidence.model_copy(update={"goal": None})
        if evidence.goal and self._reader.weigh(plan, [], aslant).goal is False:
            evidence = evidence.model_copy(update={"goal": False})
        wrong = [a.atom if a.holds else (f"not {a.atom[0]}", *a.atom[1:]) for a in evidence.goal_false]
        # Of some atoms, such as an empty hand, nothing is said.
        lacking = (self._reader.say([frozenset(wrong)]) if wrong and "; or " not in goal else "") or goal
        if result.status != "done" and evidence.goal is not True:
            outcome, reason = Outcome.RUNNING, f"not carried out: {result.message}"
        elif plan.draft.uncovers:
            outcome, reason = Outcome.RUNNING, f"only so that the task can be understood: {goal}"
        elif evidence.goal is None:
            outcome, reason = Outcome.SUCCESS, f"carried out{unseen}"
        elif evidence.goal:
            met = self._reader.met(plan.draft, seen) or goal
            outcome, reason = Outcome.SUCCESS, f"seen to hold: {met}{memory}"
        else:
            outcome, reason = Outcome.RUNNING, f"not seen to hold: {lacking}"
        holds = outcome is Outcome.SUCCESS and evidence.goal is True
        text = goal if holds else lacking
        condition = Condition(text=text, holds=holds, reason=reason if outcome is Outcome.RUNNING else "")
        self._env.shown = verdict = Verdict(
            outcome=outcome,
            score=float(holds),
            stamp=self._env.verdict().stamp,
            reason=reason,
            conditions=(condition,),
        )
        return verdict

    def verdict(self) -> Verdict:
        """Return what the last look after a plan showed; before, the referee's verdict without conditions."""
        return self._env.shown or self._env.verdict().model_copy(update={"conditions": ()})

    def checkpoint(self) -> bytes:
        """See `Environment`."""
        return self._env.checkpoint()

    def restore(self, checkpoint: bytes) -> None:
        """See `Environment`."""
        self._env.shown = self._acted = None
        self._env.restore(checkpoint)

    def cancel(self) -> None:
        """See `Environment`."""
        self._env.cancel()

    def close(self) -> None:
        """See `Environment`."""
        self._env.close()
