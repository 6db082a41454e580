"""Compares a valid plan with the environment's own reading of the task.

A difference is a question to the proposer, not an error.
"""

from __future__ import annotations

from collections.abc import Iterable

from spca_core.plan import Plan
from spca_core.ports.vocabulary import SameFact, SecondOpinion
from spca_planner.pddl.formula import Atom, ground
from spca_planner.prediction import Prediction, predict

_ASK = (
    "A question, asked once: {difference}. Change the draft if the task is meant that way; "
    "hand it in unchanged if it is not."
)
READABLE = (
    "a question, asked once: the task reads as if in the end {goal}. Draft that if it is meant and can be "
    "done; otherwise decline again."
)
"""What a proposer is asked that declines a task which the environment itself can read."""


def question(plan: Plan, opinion: SecondOpinion) -> str:
    """The differences, for the author of the plan; empty if there are none."""
    prediction = predict(plan)
    differences = [*_unreached(prediction, opinion), *_moved(prediction, opinion)]
    return _ASK.format(difference=", and ".join(differences)) if differences else ""


def _unreached(prediction: Prediction, opinion: SecondOpinion) -> Iterable[str]:
    final = prediction.states[-1] if prediction.states else _initial(prediction)
    lacking = [[f for f in goal if _false(f, final, prediction)] for goal in opinion.goals]
    if lacking and all(lacking):
        fewest = min(lacking, key=lambda facts: (len(facts), sorted(map(sorted, facts))))
        used = {atom[0] for atom in _initial(prediction)}  # a fact is told in the draft's own words
        told = (min(fact, key=lambda atom: (atom[0] not in used, atom)) for fact in fewest)
        atoms = ", ".join(sorted(f"({' '.join(atom)})" for atom in told))
        yield f"the task reads as if in the end {opinion.words}, but after this plan {atoms} would not hold"


def _moved(prediction: Prediction, opinion: SecondOpinion) -> Iterable[str]:
    initial = _initial(prediction)
    for name, place in sorted(opinion.bystanders.items()):
        if place & initial and any(not place & state for state in prediction.states):
            yield f"the task does not ask to move {name}, but this plan does"


def _false(fact: SameFact, state: frozenset[Atom], prediction: Prediction) -> bool:
    """Whether the domain can express a fact and it does not hold."""
    said = [atom for atom in fact if prediction.says(atom)]
    return bool(said) and not any(atom in state for atom in said)


def _initial(prediction: Prediction) -> frozenset[Atom]:
    return frozenset(ground(f, {}) for f in prediction.problem.init if f.head not in ("=", "not"))
