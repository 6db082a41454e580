"""Two validators must both accept a plan.

UP's gives the reason for a rejection; TAMER checks the plan independently.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence

from unified_planning.engines.plan_validator import SequentialPlanValidator
from unified_planning.engines.results import FailedValidationReason, ValidationResult, ValidationResultStatus
from unified_planning.engines.sequential_simulator import UPSequentialSimulator
from unified_planning.model import FNode, Problem
from unified_planning.model.walkers import StateEvaluator
from unified_planning.plans import ActionInstance, SequentialPlan
from up_tamer.engine import EngineImpl as Tamer

from spca_planner.solver.judgement import Words
from spca_planner.solver.propositional import Propositional


def why_invalid(problem: Problem, steps: Sequence[Words], one_validator: bool = False) -> str:
    """A sentence that says why the plan does not solve the problem; empty if both validators accept it.

    With `one_validator`, TAMER is not asked.
    """
    try:
        plan = _plan(problem, steps)
    except _Misfit as error:
        return str(error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        validator = SequentialPlanValidator(environment=problem.environment)
        validator.skip_checks = True
        result = validator.validate(problem, plan)
    if result.status is not ValidationResultStatus.VALID:
        return _reason(problem, steps, result)
    if not steps or one_validator:
        return ""  # nothing to check twice: TAMER takes no empty plans
    along = Propositional(problem, plan, result.trace or [])
    tamer = Tamer()
    tamer.skip_checks = True
    if tamer.validate(along.problem, along.plan).status is not ValidationResultStatus.VALID:
        return "TAMER rejects the plan although Unified Planning's validator accepts it"
    return ""


class _Misfit(Exception):
    pass


def _plan(problem: Problem, steps: Sequence[Words]) -> SequentialPlan:
    manager = problem.environment.expression_manager
    instances = []
    for number, words in enumerate(steps, 1):
        name, *args = (word.lower() for word in words)  # as the texts are read: PDDL knows no case
        if not problem.has_action(name):
            raise _Misfit(f"step {number}, {_call(words)}: the domain has no action '{name}'")
        unknown = [a for a in args if not problem.has_object(a)]
        if unknown:
            raise _Misfit(f"step {number}, {_call(words)}: the problem has no object '{unknown[0]}'")
        action = problem.action(name)
        if len(action.parameters) != len(args):
            raise _Misfit(f"step {number}, {_call(words)}: {name} takes {len(action.parameters)} argument(s)")
        objects = [problem.object(a) for a in args]
        for parameter, thing in zip(action.parameters, objects, strict=True):
            if not parameter.type.is_compatible(thing.type):
                raise _Misfit(f"step {number}, {_call(words)}: '{thing.name}' cannot be ?{parameter.name}")
        instances.append(ActionInstance(action, tuple(map(manager.ObjectExp, objects))))
    return SequentialPlan(instances, problem.environment)


def _reason(problem: Problem, steps: Sequence[Words], result: ValidationResult) -> str:
    simulator = UPSequentialSimulator(problem, error_on_failed_checks=False)
    trace = result.trace or []
    if result.reason is FailedValidationReason.UNSATISFIED_GOALS:
        evaluator = StateEvaluator(problem)
        missing = [g for g in _conjuncts(problem.goals) if not evaluator.evaluate(g, trace[-1]).is_true()]
        return f"after the last step the goal {_listed(missing)} does not hold"
    number = len(trace)
    failed = result.inapplicable_action
    if failed is not None:
        conditions, _ = simulator.get_unsatisfied_conditions(trace[-1], failed)
        if conditions:
            manager = problem.environment.expression_manager
            names = map(manager.ParameterExp, failed.action.parameters)
            binding = dict(zip(names, failed.actual_parameters, strict=True))
            ground = _listed([c.substitute(binding).simplify() for c in conditions])
            return f"step {number}, {_call(steps[number - 1])}: its precondition {ground} is not satisfied"
    words = " ".join(m.message for m in result.log_messages or [])
    return f"step {number}: {words}"


def _conjuncts(conditions: Iterable[FNode]) -> Iterator[FNode]:
    for condition in conditions:
        yield from _conjuncts(condition.args) if condition.is_and() else [condition]


def _listed(conditions: Sequence[FNode]) -> str:
    return " and ".join(str(c) for c in conditions)


def _call(words: Words) -> str:
    return f"{words[0]}({', '.join(words[1:])})"
