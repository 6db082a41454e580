"""The goal critic: a goal must be what the task asks for, and the plan must really achieve it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spca_core.observation import Observation
from spca_core.ports.vocabulary import Extension
from spca_planner.critics.scene import observed_truth
from spca_planner.pddl.formula import atoms, evaluate, ground
from spca_planner.pddl.limits import MOST_FAULTS
from spca_planner.pddl.sexpr import Group, Word, brief
from spca_planner.pddl.syntax import Domain, Problem
from spca_planner.solver.judgement import Words


def off_topic(problem: Problem, required: Sequence[str]) -> str:
    """That the goal leaves out an object that the task names; empty if it does not.

    A goal with quantifiers may mean an object without its name.
    """
    words = _words(problem.goal)
    if "exists" in words or "forall" in words:
        return ""
    missing = [symbol for symbol in required if symbol.lower() not in words]
    if not missing:
        return ""
    return f"the task names {', '.join(missing)}, but the goal {brief(problem.goal)} does not mention it"


def unproven_empty(
    domain: Domain, problem: Problem, observation: Observation, extensions: Mapping[str, Extension]
) -> str:
    """Explain why an empty plan is not right: the goal must be *seen* to hold; "" if it is."""
    holds = evaluate(
        problem.goal, lambda atom: observed_truth(observation, extensions, atom), domain, problem
    )
    if holds:
        return ""
    unseen = [
        str(a) for a in atoms(problem.goal) if not observed_truth(observation, extensions, ground(a, {}))
    ]
    shown = ", ".join(unseen[:MOST_FAULTS]) or brief(problem.goal)
    return f"the plan is empty, but the scene does not show that {shown} holds"


def vacuous(domain: Domain, problem: Problem, steps: Sequence[Words]) -> str:
    """Explain why a single action that achieves everything and requires nothing is a wish, not a plan."""
    if len(steps) != 1:
        return ""
    action = domain.actions[steps[0][0]]
    required = [*atoms(action.precondition), *atoms(action.precondition, positive=False)]
    stated = {ground(fact, {}) for fact in problem.init}
    achieved = [a for a in atoms(problem.goal) if ground(a, {}) not in stated]
    manipulated = {ground(a, {})[1] for a in achieved if a.rest}
    if not action.parameters and problem.objects:
        flaw = "it has no parameters, so it can only be this one task under another name"
    elif not any(a.head in domain.predicates for a in required):
        flaw = "it has no preconditions; state what must hold before the robot can do it"
    elif problem.goal.head != "or" and len(manipulated) > 1:
        flaw = f"it achieves {', '.join(map(str, achieved))} at once; use one action for each manipulation"
    else:
        return ""
    return f"action '{action.name}' alone achieves the goal, but {flaw}"


def _words(group: Group) -> set[str]:
    found: set[str] = set()
    for item in group.items:
        found |= {item.text} if isinstance(item, Word) else _words(item)
    return found
