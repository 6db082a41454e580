"""Answers to each kind of question, by the stack's reader, semantics and engine; no model is asked."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from spca_acpbench.questions import Atom, Question
from spca_acpbench.task import State, Task
from spca_core.ports.engine import Engine, Solution
from spca_planner.pddl.formula import atoms, ground

SECONDS = 20.0
"""Of processor time for one search of the engine."""
_WALKS, _STEPS = 30, 60
_MOST_PROOFS = 60
"""Searches for one question, after which the rest counts as reachable."""


class Answerer:
    """Answers one question at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        engine.warm()

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
        return self._never(
            task, list(task.every_atom()), task.relaxed[0], lambda: set().union(*_visited(task)), _written
        )

    def _areach(self, task: Task, question: Question) -> Atom | None:
        def seen() -> set[Atom]:
            return {a.name for state in set(_visited(task)) for a in task.applicable(state)}

        return self._never(task, list(task.every_action()), task.relaxed[1], seen, task.precondition)

    def _never(
        self,
        task: Task,
        candidates: list[Atom],
        possible: frozenset[Atom],
        seen: Callable[[], set[Atom]],
        goal: Callable[[Atom], str],
    ) -> Atom | None:
        """The first candidate that the relaxation, or else the engine, proves to be impossible.

        `seen` are those that need no proof, as walks came upon them; `goal` says a candidate as PDDL.
        """
        if impossible := next((c for c in candidates if c not in possible), None):
            return impossible
        met = seen()
        for candidate in [c for c in candidates if c not in met][:_MOST_PROOFS]:
            if self.solution(task, goal(candidate)).status == "unsolvable":
                return candidate
        return None

    def _land(self, task: Task, question: Question) -> Atom | None:
        """A fact that every plan makes true: it is among those of one plan, and without it there is none."""
        plan = self.solution(task, str(task.problem.goal))
        states = task.states(list(plan.steps))
        wanted = {ground(group, {}) for group in atoms(task.problem.goal)}
        facts = sorted(set().union(*states) - task.initial - wanted)
        for fact in facts:
            if not task.is_goal(task.relaxed_without(fact)[0]):
                return fact
        return next((fact for fact in facts if self.is_landmark(task, fact)), None)

    def _nexta(self, task: Task, question: Question) -> Atom | None:
        plan = self.solution(task, str(task.problem.goal))
        return plan.steps[0] if plan.steps else None

    # --- proofs ---------------------------------------------------------------------------------------------

    def solution(self, task: Task, goal: str, domain: str = "", facts: str = "") -> Solution:
        """What the engine finds for another goal, or another domain and more facts."""
        problem = task.draft.problem
        end = re.search(r"\(:goal", problem, re.IGNORECASE)
        init = re.search(r"\(:init", problem, re.IGNORECASE)
        assert end is not None and init is not None
        text = f"{problem[: init.end()]} {facts} {problem[init.end() : end.start()]}(:goal {goal}))"
        search = self._engine.start(domain or task.draft.domain, text, SECONDS)
        try:
            return search.wait()
        finally:
            search.close()

    def is_landmark(self, task: Task, fact: Atom) -> bool:
        """Whether there is no plan on whose way the fact never holds: proven by the engine.

        What adds the fact raises a flag, which the goal forbids.
        """
        name, count = fact[0], len(fact) - 1
        variables = [f"?v{i}" for i in range(count)]
        pattern = re.compile(rf"\({re.escape(name)}((?:\s+[^()\s]+){{{count}}})\s*\)", re.IGNORECASE)
        domain = re.sub(
            r"\(:predicates",
            f"(:predicates (flagged) (the-fact {' '.join(variables)}) ",
            task.draft.domain,
            count=1,
        )
        head, *actions = re.split(r"(?=\(:action)", domain)
        flagged = "".join(_flagging(text, pattern) for text in actions)
        goal = f"(and (not (flagged)) {task.problem.goal})"
        facts = f"(the-fact {' '.join(fact[1:])})"
        return self.solution(task, goal, head + flagged, facts).status == "unsolvable"


def _flagging(action: str, pattern: re.Pattern[str]) -> str:
    """The action's text, with a flag on every atom that its effect adds and the pattern matches."""
    start = action.lower().rfind(":effect")
    effect = action[start:]
    added = [m for m in pattern.finditer(effect) if not re.search(r"\(not\s*$", effect[: m.start()])]
    for match in reversed(added):
        flag = f" (when (the-fact{match.group(1)}) (flagged))"
        effect = f"{effect[: match.start()]}{match.group(0)}{flag}{effect[match.end() :]}"
    return action[:start] + effect


def _visited(task: Task) -> Iterator[State]:
    """States along random walks: what holds there needs no proof."""
    rng = random.Random(0)
    yield task.initial
    for _ in range(_WALKS):
        state = task.initial
        for _ in range(_STEPS):
            actions = list(task.applicable(state))
            if not actions:
                break
            state = task.after(state, rng.choice(actions))
            yield state


def _written(atom: Atom) -> str:
    return f"({' '.join(atom)})"


def shared_words(action: Atom, words: list[str]) -> tuple[int, int, int]:
    """How well a ground action fits words: its arguments among them, in their order, and its name's parts."""
    named = set(action[1:]) & set(words)
    places = [words.index(a) for a in action[1:] if a in words]
    parts = re.split(r"[-_]", action[0])
    fits = sum(
        part in words or any(w.startswith(part) or part.startswith(w) for w in words[:2]) for part in parts
    )
    return len(named) - len(set(action[1:]) - named), fits, int(places == sorted(places))
