"""Two scores: what the data set's own evaluator would say, and what is proven.

The evaluator takes the answer that is listed, and otherwise asks a planner; where the data set says that
there is nothing, it takes nothing else. A proof is the relaxation's, the engine's, or the semantics' own.
"""

from __future__ import annotations

from typing import Any

from spca_acpbench.answers import Answerer
from spca_acpbench.questions import Atom, Question
from spca_acpbench.questions import atoms as parsed
from spca_acpbench.task import Task
from spca_core.model import Record


class Score(Record):
    """Correctness of an answer: by the evaluator's rule, and by proof. `why` where they differ."""

    evaluator: bool
    proven: bool
    why: str = ""


def score(question: Question, answer: Any, answerer: Answerer) -> Score:
    """Judge an answer in the form that `Answerer.answer` gives."""
    gold, kind = question.gold, question.kind
    if kind == "app":
        return _both(set(answer) == _atoms(gold))
    if kind == "prog":
        return _both(set(answer["pos"]) == _atoms(gold["pos"]) and set(answer["neg"]) == _atoms(gold["neg"]))
    if kind == "val":
        return _both((-1 if answer is None else answer) == int(gold))
    if kind == "just":
        task = Task(question.domain, question.problem)
        plan = question.sequence()
        shorter = bool(answer) and len(answer) < len(plan) and _within(answer, plan)
        return _both(shorter and task.solves(answer))
    if kind == "nexta":
        known = answer in _atoms(gold["yes"])
        return _both(known or (answer in _atoms(gold["maybe"]) and _closer(question, answer, answerer)))
    listed = _atoms(gold["yes"] if kind == "land" else [g if g.startswith("(") else f"({g})" for g in gold])
    proven = _proven(question, answer, answerer)
    if kind == "land":
        right = answer in listed if answer is not None else not listed
    else:
        right = answer is None if not listed else answer is not None and (answer in listed or proven)
    return Score(evaluator=right, proven=proven, why=_difference(right, proven, answer, listed))


def _proven(question: Question, answer: Atom | None, answerer: Answerer) -> bool:
    """Return whether the engine confirms an answer on what is possible; of "none", that it is listed so."""
    task = Task(question.domain, question.problem)
    if answer is None:
        return not (question.gold["yes"] if question.kind == "land" else question.gold)
    if question.kind == "land":
        return answerer.without(task, answer).status == "unsolvable"
    goal = f"({' '.join(answer)})" if question.kind == "reach" else task.precondition(answer)
    return answerer.solution(task, goal, greedy="relaxation").status == "unsolvable"


def _closer(question: Question, answer: Atom, answerer: Answerer) -> bool:
    """Return whether the goal is nearer by one after that action: both distances are the engine's."""
    task = Task(question.domain, question.problem)
    best = answerer.solution(task, str(task.problem.goal))
    return bool(best.steps) and best.steps[0] == answer and len(best.steps) == int(question.gold["opt"])


def _difference(right: bool, proven: bool, answer: Atom | None, listed: set[Atom]) -> str:
    if right == proven:
        return ""
    said = "none" if answer is None else f"({' '.join(answer)})"
    return f"{said} is {'proven' if proven else 'not proven'}; the data set lists {len(listed)} answers"


def _both(right: bool) -> Score:
    return Score(evaluator=right, proven=right)


def _atoms(texts: Any) -> set[Atom]:
    return {atom for text in texts for atom in parsed(text)}


def _within(shorter: list[Atom], plan: list[Atom]) -> bool:
    rest = iter(plan)
    return all(step in rest for step in shorter)
