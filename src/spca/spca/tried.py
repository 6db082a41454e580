"""What is known of plans and skills that were tried in vain."""

from __future__ import annotations

from hashlib import sha256

from spca.state import RunState
from spca_coder.source import meaning, read
from spca_core.plan import Plan
from spca_core.skill import python_name
from spca_planner.pddl.sexpr import PddlError
from spca_planner.prediction import predict


def fingerprint(plan: Plan, library: str) -> str:
    """The same for two plans of which nothing else can come.

    They have the same steps, their domains predict the same of them, their goals are the same, and their
    skills, with all that these stand on, mean the same.
    """
    source = read(library)
    skills = {python_name(step.action) for step in plan.steps}
    code = source.excerpt(*source.with_helpers(skills & set(source.functions)))
    try:
        prediction = predict(plan)
        predicted = [*map(sorted, (e.items() for e in prediction.effects)), str(prediction.problem.goal)]
    except (PddlError, KeyError, ValueError):  # a plan that no validator has seen
        predicted = []
    text = "\n".join([*map(str, plan.steps), *map(str, predicted), meaning(code)])
    return sha256(text.encode()).hexdigest()[:16]


def lessons(state: RunState, plan: Plan) -> str:
    """What was wrong with earlier versions of the plan's skills that were given up, for their next author."""
    skills = dict.fromkeys(python_name(step.action) for step in plan.steps)
    told = {state.lessons[name]: name for name in skills if name in state.lessons}
    return "\n".join(f"an earlier version of {name} was given up: {why}" for why, name in told.items())
