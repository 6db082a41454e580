"""The goal critic: a goal must be what the task asks for, and a plan must be work, not a play on words."""

from __future__ import annotations

from collections.abc import Sequence

from spca_core.observation import Observation
from spca_core.plan import Rejection, Step
from spca_core.task import Task
from spca_planner.critics.scene import observed_truth
from spca_planner.critics.vocabulary import Extension, Vocabulary
from spca_planner.pddl.formula import atoms, evaluate, ground
from spca_planner.pddl.sexpr import Group, Word
from spca_planner.pddl.syntax import Domain, Problem


def off_topic(
    problem: Problem, task: Task, observation: Observation, vocabulary: Vocabulary
) -> Rejection | None:
    """The goal leaves out an object that the task names. A goal with quantifiers may mean it without its name."""
    words = _words(problem.goal)
    if "exists" in words or "forall" in words:
        return None
    missing = [symbol for symbol in vocabulary.required(task, observation) if symbol.lower() not in words]
    if not missing:
        return None
    message = f"the task names {', '.join(missing)}, but the goal {problem.goal} does not mention it"
    return Rejection(critic="goal", message=message)


def unproven_empty(
    domain: Domain, problem: Problem, observation: Observation, extensions: dict[str, Extension]
) -> Rejection | None:
    """A plan without steps is only right when the goal can be *seen* to hold."""
    holds = evaluate(
        problem.goal, lambda atom: observed_truth(observation, extensions, atom), domain, problem
    )
    if holds:
        return None
    unseen = [
        str(a) for a in atoms(problem.goal) if not observed_truth(observation, extensions, ground(a, {}))
    ]
    message = f"the plan is empty, but the scene does not show that {', '.join(unseen) or problem.goal} holds"
    return Rejection(critic="goal", message=message)


def vacuous(domain: Domain, problem: Problem, steps: Sequence[Step]) -> Rejection | None:
    """A single action that achieves everything without asking for anything is a wish, not a plan."""
    if len(steps) != 1:
        return None
    action = domain.actions[steps[0].action]
    stated = {ground(fact, {}) for fact in problem.init}
    achieved = [a for a in atoms(problem.goal) if ground(a, {}) not in stated]
    manipulated = {ground(a, {})[1] for a in achieved if a.rest}
    if not action.parameters and problem.objects:
        flaw = "it has no parameters, so it can only be this one task under another name"
    elif not any(a.head in domain.predicates for a in _all_atoms(action.precondition)):
        flaw = "it has no preconditions; state what must hold before the robot can do it"
    elif problem.goal.head != "or" and len(manipulated) > 1:
        flaw = f"it achieves {', '.join(map(str, achieved))} at once; use one action for each manipulation"
    else:
        return None
    return Rejection(critic="goal", message=f"action '{action.name}' alone achieves the goal, but {flaw}")


def _all_atoms(condition: Group | None) -> list[Group]:
    return [*atoms(condition), *atoms(condition, positive=False)]


def _words(group: Group) -> set[str]:
    found: set[str] = set()
    for item in group.items:
        found |= {item.text} if isinstance(item, Word) else _words(item)
    return found
