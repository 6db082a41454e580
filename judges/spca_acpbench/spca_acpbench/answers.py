"""Answers to each kind of question, by the stack's reader, semantics and engine; no model is asked."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any

from spca_acpbench.pairs import Pairs
from spca_acpbench.questions import Atom, Question
from spca_acpbench.task import State, Task, literals
from spca_core.ports.engine import Solution
from spca_planner.pddl.formula import atoms, ground
from spca_planner.pddl.syntax import Action
from spca_planner.solver.downward import DownwardSearch, FastDownward
from spca_planner.solver.judgement import Greedy

SECONDS = 20.0
"""Of processor time for one search of the engine."""
_WALKS, _STEPS = 30, 60
"""Walks from the initial state, each until so many steps have shown nothing new."""
_MOST_PROOFS = 60
"""Searches for one question, after which the rest counts as reachable."""


class Answerer:
    """Answers one question at a time."""

    def __init__(self) -> None:
        FastDownward().warm()

    def answer(self, question: Question) -> Any:
        """The answer in the data set's form: atoms as tuples, None for "none"."""
        task = Task(question.domain, question.problem)
        return getattr(self, f"_{question.kind}")(task, question)

    # --- what is so now -------------------------------------------------------------------------------------

    def _app(self, task: Task, question: Question) -> list[Atom]:
        return sorted(action.name for action in task.applicable(task.initial))

    def _prog(self, task: Task, question: Question) -> dict[str, list[Atom]]:
        """The action is named in words: the applicable one that shares most of them, in their order."""
        quoted = re.search(r'"([^"]*)"', question.text)
        words = re.findall(r"[\w-]+", quoted.group(1).lower()) if quoted else []
        chosen = max(task.applicable(task.initial), key=lambda a: (shared_words(a.name, words), a.name))
        after = task.states([chosen.name])[1]
        return {"pos": sorted(after - task.initial), "neg": sorted(task.initial - after)}

    def _val(self, task: Task, question: Question) -> int | None:
        return task.first_inapplicable(question.sequence())

    def _just(self, task: Task, question: Question) -> list[Atom] | None:
        plan = question.sequence()
        for size in (1, 2):
            for at in range(len(plan) - size + 1):
                shorter = plan[:at] + plan[at + size :]
                if task.solves(shorter):
                    return shorter
        return None

    # --- what can be so -------------------------------------------------------------------------------------

    def _reach(self, task: Task, question: Question) -> Atom | None:
        possible = task.relaxed()
        if impossible := next((atom for atom in task.every_atom() if atom not in possible), None):
            return impossible
        return self._never(task, {a: frozenset([a]) for a in task.every_atom()}, lambda s: s, _written)

    def _areach(self, task: Task, question: Question) -> Atom | None:
        possible = task.operators
        if impossible := next((name for name in task.every_action() if name not in possible), None):
            return impossible

        def applicable(state: State) -> set[Atom]:
            return {action.name for action in task.applicable(state)}

        needs = {name: action.needs for name, action in possible.items()}
        return self._never(task, needs, applicable, task.precondition)

    def _never(
        self,
        task: Task,
        needs: Mapping[Atom, frozenset[Atom]],
        seen: Callable[[State], Set[Atom]],
        goal: Callable[[Atom], str],
    ) -> Atom | None:
        """The first candidate that is proven to be impossible: by pairs of what it needs, or by the engine.

        Args:
            task: The problem.
            needs: The candidates, each with atoms that would have to hold at once.
            seen: Which candidates a state shows to be possible.
            goal: A candidate as PDDL.
        """
        pairs = Pairs(task)
        if impossible := next((c for c, atoms in needs.items() if not pairs.possible(atoms)), None):
            return impossible
        left = dict.fromkeys(needs)
        states: Iterable[State] = _visited(task)
        for _ in range(_MOST_PROOFS):
            for state in states:
                for candidate in seen(state):
                    left.pop(candidate, None)
                if not left:
                    return None
            candidate = next(iter(left))
            found = self.solution(task, goal(candidate), greedy="relaxation")
            if found.status == "unsolvable":
                return candidate
            del left[candidate]
            states = task.states(list(found.steps))
        return None

    def _land(self, task: Task, question: Question) -> Atom | None:
        """A fact that every plan makes true: it is among those of one plan, and without it there is none.

        A plan without one fact shows of every other fact that it does without that this is no landmark.
        """
        plan = self.solution(task, str(task.problem.goal), greedy="relaxation")
        wanted = {ground(group, {}) for group in atoms(task.problem.goal)}
        facts = sorted(set().union(*task.states(list(plan.steps))) - task.initial - wanted)
        for fact in facts:
            if not task.is_goal(task.relaxed(fact)):
                return fact
        while facts:
            fact = facts.pop(0)
            plan = self.without(task, fact)
            if plan.status == "unsolvable":
                return fact
            if plan.status == "solved":
                made = set().union(*task.states(list(plan.steps)))
                facts = [other for other in facts if other in made]
        return None

    def _nexta(self, task: Task, question: Question) -> Atom | None:
        plan = self.solution(task, str(task.problem.goal))
        return plan.steps[0] if plan.steps else None

    # --- proofs ---------------------------------------------------------------------------------------------

    def solution(
        self, task: Task, goal: str, domain: str = "", facts: str = "", greedy: Greedy | None = None
    ) -> Solution:
        """Return Fast Downward's solution for another goal, or another domain and more facts.

        A shortest plan, or with `greedy` any; a proof that there is none is as good with it.
        """
        problem = task.draft.problem
        end = re.search(r"\(:goal", problem, re.IGNORECASE)
        init = re.search(r"\(:init", problem, re.IGNORECASE)
        assert end is not None and init is not None
        text = f"{problem[: init.end()]} {facts} {problem[init.end() : end.start()]}(:goal {goal}))"
        search = DownwardSearch(domain or task.draft.domain, text, SECONDS, greedy)
        try:
            return search.wait()
        finally:
            search.close()

    def without(self, task: Task, fact: Atom) -> Solution:
        """A plan on whose way the fact never comes to hold; it is a landmark where there is none.

        Nothing that would add the fact may be applied.
        """
        head, *_ = re.split(r"\(:action", task.draft.domain, maxsplit=1, flags=re.IGNORECASE)
        variables = " ".join(f"?v{k}" for k in range(len(fact) - 1))
        head = re.sub(r"\(:predicates", rf"\g<0> (the-fact {variables})", head, flags=re.IGNORECASE)
        actions = "\n".join(_not_adding(action, fact[0]) for action in task.domain.actions.values())
        facts = f"(the-fact {' '.join(fact[1:])})"
        return self.solution(task, str(task.problem.goal), f"{head} {actions})", facts, greedy="relaxation")


def _not_adding(action: Action, predicate: str) -> str:
    """The action, with the precondition that `the-fact` is nothing of the predicate that it adds."""
    needs = [str(action.precondition)] if action.precondition else []
    needs += [
        f"(not (the-fact {' '.join(ground(g, {})[1:])}))"
        for g in literals(action.effect)[0]
        if g.head == predicate
    ]
    parameters = " ".join(f"{p.name} - {p.type}" for p in action.parameters)
    return (
        f"(:action {action.name} :parameters ({parameters})"
        f" :precondition (and {' '.join(needs)}) :effect {action.effect})"
    )


def _visited(task: Task) -> Iterator[State]:
    """States along random walks that prefer what adds something new: what holds there needs no proof."""
    rng, met = random.Random(0), set(task.initial)
    yield task.initial
    for _ in range(_WALKS):
        state, idle = task.initial, 0
        while idle < _STEPS and (actions := list(task.applicable(state))):
            state = task.after(state, rng.choice([a for a in actions if not a.adds <= met] or actions))
            idle = idle + 1 if state <= met else 0
            met |= state
            yield state


def _written(atom: Atom) -> str:
    return f"({' '.join(atom)})"


def shared_words(action: Atom, words: list[str]) -> tuple[int, int, int]:
    """Score a ground action's fit to words: arguments among them, parts of its name, arguments' order."""
    named = set(action[1:]) & set(words)
    places = [words.index(a) for a in action[1:] if a in words]
    parts = re.split(r"[-_]", action[0])
    fits = sum(
        part in words or any(w.startswith(part) or part.startswith(w) for w in words[:2]) for part in parts
    )
    return len(named) - len(set(action[1:]) - named), fits, int(places == sorted(places))
