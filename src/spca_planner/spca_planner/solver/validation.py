"""Two validators must both accept a plan.

UP's gives the reason for a rejection; TAMER checks the plan independently. It takes neither type hierarchies
nor quantifiers nor conditional effects. Along a given plan none is needed: every step becomes an action of
its own, without parameters; a conditional effect stays when its condition holds in the trace of the other
validator, and the condition (or its negation) becomes a precondition, so that nothing is taken on trust: if
the trace was wrong, that precondition fails. Of a disjunction the one part that holds in the trace is kept,
which is a stronger condition: TAMER writes all conditions in disjunctive normal form, which grows
exponentially with their number.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

from unified_planning.engines.plan_validator import SequentialPlanValidator
from unified_planning.engines.results import FailedValidationReason, ValidationResult, ValidationResultStatus
from unified_planning.model import FNode, InstantaneousAction, Problem, State
from unified_planning.model.fluent import Fluent
from unified_planning.model.walkers import ExpressionQuantifiersRemover, StateEvaluator, Substituter
from unified_planning.plans import ActionInstance, SequentialPlan
from up_tamer.engine import EngineImpl as Tamer

from spca_planner.pddl.sexpr import PddlError
from spca_planner.solver.judgement import Words

WhyInvalid = Callable[[Problem, Sequence[Words]], str]
"""Function that says in a sentence why a plan does not solve a problem; empty if it does."""


def why_invalid(problem: Problem, steps: Sequence[Words]) -> str:
    """Return why the plan does not solve the problem, in a sentence; empty if both validators accept it."""
    refusal, plan, trace = simulated(problem, steps)
    if refusal or plan is None or not steps:
        return refusal  # or nothing to check twice: TAMER takes no empty plans
    along = Propositional(problem, plan, trace)
    tamer = Tamer()
    tamer.skip_checks = True
    if tamer.validate(along.problem, along.plan).status is not ValidationResultStatus.VALID:
        return "TAMER rejects the plan although Unified Planning's validator accepts it"
    return ""


def simulated(problem: Problem, steps: Sequence[Words]) -> tuple[str, SequentialPlan | None, Sequence[State]]:
    """Return what Unified Planning's validator says against a plan, and the plan with its trace."""
    try:
        plan = _plan(problem, steps)
    except PddlError as error:
        return str(error), None, ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        validator = SequentialPlanValidator(environment=problem.environment)
        validator.skip_checks = True
        result = validator.validate(problem, plan)
    if result.status is not ValidationResultStatus.VALID:
        return _reason(problem, steps, result), plan, ()
    return "", plan, result.trace or []


def _plan(problem: Problem, steps: Sequence[Words]) -> SequentialPlan:
    manager = problem.environment.expression_manager
    instances = []
    for number, words in enumerate(steps, 1):
        name, *args = (word.lower() for word in words)  # as the texts are read: PDDL knows no case
        if not problem.has_action(name):
            raise PddlError(f"step {number}, {_call(words)}: the domain has no action '{name}'")
        unknown = [a for a in args if not problem.has_object(a)]
        if unknown:
            raise PddlError(f"step {number}, {_call(words)}: the problem has no object '{unknown[0]}'")
        action = problem.action(name)
        if len(action.parameters) != len(args):
            told = f"step {number}, {_call(words)}: {name} takes {len(action.parameters)} argument(s)"
            raise PddlError(told)
        objects = [problem.object(a) for a in args]
        for parameter, thing in zip(action.parameters, objects, strict=True):
            if not parameter.type.is_compatible(thing.type):
                raise PddlError(f"step {number}, {_call(words)}: '{thing.name}' cannot be ?{parameter.name}")
        instances.append(ActionInstance(action, tuple(map(manager.ObjectExp, objects))))
    return SequentialPlan(instances, problem.environment)


def _reason(problem: Problem, steps: Sequence[Words], result: ValidationResult) -> str:
    evaluator, trace = StateEvaluator(problem), result.trace or []
    if result.reason is FailedValidationReason.UNSATISFIED_GOALS:
        missing = [g for g in _conjuncts(problem.goals) if not evaluator.evaluate(g, trace[-1]).is_true()]
        return f"after the last step the goal {_listed(missing)} does not hold"
    number = len(trace)
    failed = result.inapplicable_action
    if failed is not None:
        names = map(problem.environment.expression_manager.ParameterExp, failed.action.parameters)
        binding = dict(zip(names, failed.actual_parameters, strict=True))
        ground = [c.substitute(binding).simplify() for c in _conjuncts(failed.action.preconditions)]
        if unmet := [c for c in ground if not evaluator.evaluate(c, trace[-1]).is_true()]:
            step = f"step {number}, {_call(steps[number - 1])}"
            return f"{step}: its precondition {_listed(unmet)} is not satisfied"
    words = " ".join(m.message for m in result.log_messages or [])
    return f"step {number}: {words}"


def _conjuncts(conditions: Iterable[FNode]) -> Iterator[FNode]:
    for condition in conditions:
        yield from _conjuncts(condition.args) if condition.is_and() else [condition]


def _listed(conditions: Sequence[FNode]) -> str:
    return " and ".join(str(c) for c in conditions)


def _call(words: Words) -> str:
    return f"{words[0]}({', '.join(words[1:])})"


class Propositional:
    """A problem and its plan without variables: `problem` and `plan` are the grounded ones.

    `trace` are the states before each step, and after the last.
    """

    def __init__(self, problem: Problem, plan: SequentialPlan, trace: Sequence[State]) -> None:
        self._source = problem
        self._env = problem.environment
        self._quantifiers = ExpressionQuantifiersRemover(self._env)
        self._substituter = Substituter(self._env)
        self._evaluator = StateEvaluator(problem)
        self._fluents: dict[FNode, Fluent] = {}
        self.problem = Problem(f"{problem.name}_along_plan", self._env)
        steps = enumerate(zip(plan.actions, trace, strict=False), 1)
        actions = [self._action(number, step, state) for number, (step, state) in steps]
        goals = [literal for g in problem.goals for literal in self._literals(g, True, trace[-1])]
        for atom, fluent in self._fluents.items():
            self.problem.add_fluent(fluent, default_initial_value=problem.initial_value(atom))
        self.problem.add_actions(actions)
        for goal in goals:
            self.problem.add_goal(goal)
        self.plan = SequentialPlan([ActionInstance(a) for a in actions], self._env)

    def _action(self, number: int, step: ActionInstance, state: State) -> InstantaneousAction:
        action = step.action
        names = map(self._env.expression_manager.ParameterExp, action.parameters)
        binding = dict(zip(names, step.actual_parameters, strict=True))
        grounded = InstantaneousAction(f"step_{number}_{action.name}", _env=self._env)
        for condition in action.preconditions:
            ground = self._substituter.substitute(condition, binding)
            for literal in self._literals(ground, True, state):
                grounded.add_precondition(literal)
        values: dict[FNode, bool] = {}
        for effect in (e for whole in action.effects for e in whole.expand_effect(self._source)):
            if not effect.fluent.type.is_bool_type():
                continue  # costs
            condition = self._substituter.substitute(effect.condition, binding)
            holds = self._holds(condition, state)
            if not condition.is_true():
                for literal in self._literals(condition, holds, state):
                    grounded.add_precondition(literal)
            if holds:
                atom = self._substituter.substitute(effect.fluent, binding)
                values[atom] = values.get(atom, False) or effect.value.is_true()  # adding wins over deleting
        for atom, value in values.items():
            grounded.add_effect(self._proposition(atom), value)
        return grounded

    def _literals(self, condition: FNode, wanted: bool, state: State) -> list[FNode]:
        """Return literals over propositions that hold in `state` and make `condition` what is `wanted`.

        A literal that is false, if it is not so in `state`.
        """
        ground = self._quantifiers.remove_quantifiers(condition, self._source).simplify()
        return list(dict.fromkeys(self._implying(ground, wanted, state)))

    def _implying(self, node: FNode, wanted: bool, state: State) -> Iterator[FNode]:
        manager = self._env.expression_manager
        if node.is_bool_constant():
            if node.is_true() != wanted:
                yield manager.FALSE()
        elif node.is_not():
            yield from self._implying(node.arg(0), not wanted, state)
        elif node.is_iff():
            first = self._holds(node.arg(0), state)
            yield from self._implying(node.arg(0), first, state)
            yield from self._implying(node.arg(1), first == wanted, state)
        elif node.is_and() or node.is_or() or node.is_implies():
            parts = [(part, wanted) for part in node.args]
            if node.is_implies():
                parts[0] = node.arg(0), not wanted
            if node.is_and() != wanted:  # one part is enough
                parts = [(part, value) for part, value in parts if self._holds(part, state) == value][:1]
                if not parts:
                    yield manager.FALSE()
            for part, value in parts:
                yield from self._implying(part, value, state)
        else:
            atom = self._proposition(node)
            yield atom if wanted else manager.Not(atom)

    def _holds(self, condition: FNode, state: State) -> bool:
        return bool(self._evaluator.evaluate(condition, state).is_true())

    def _proposition(self, atom: FNode) -> FNode:
        if atom not in self._fluents:
            name = "__".join([atom.fluent().name, *(str(a) for a in atom.args)])
            self._fluents[atom] = Fluent(name, environment=self._env)
        return self._env.expression_manager.FluentExp(self._fluents[atom])
