"""A plan and its problem without variables: what a validator for plain propositional planning can check.

TAMER takes neither type hierarchies nor quantifiers nor conditional effects. Along a given plan none is
needed: every step becomes an action of its own, without parameters; a conditional effect stays when its
condition holds in the trace of the other validator, and the condition (or its negation) becomes a
precondition, so that nothing is taken on trust: if the trace was wrong, that precondition fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from unified_planning.model import FNode, InstantaneousAction, Problem, State
from unified_planning.model.effect import Effect
from unified_planning.model.fluent import Fluent
from unified_planning.model.walkers import ExpressionQuantifiersRemover, StateEvaluator, Substituter
from unified_planning.plans import ActionInstance, SequentialPlan


class Propositional:
    """`problem` and `plan` are the grounded ones.

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
        actions = [
            self._action(i, step, state)
            for i, (step, state) in enumerate(zip(plan.actions, trace, strict=False))
        ]
        goals = [self._plain(g) for g in problem.goals]
        for atom, fluent in self._fluents.items():
            self.problem.add_fluent(fluent, default_initial_value=problem.initial_value(atom))
        self.problem.add_actions(actions)
        for goal in goals:
            self.problem.add_goal(goal)
        self.plan = SequentialPlan([ActionInstance(a) for a in actions], self._env)

    def _action(self, index: int, step: ActionInstance, state: State) -> InstantaneousAction:
        action = step.action
        binding = dict(
            zip(
                map(self._env.expression_manager.ParameterExp, action.parameters),
                step.actual_parameters,
                strict=True,
            )
        )
        grounded = InstantaneousAction(f"step_{index + 1}_{action.name}", _env=self._env)
        for condition in action.preconditions:
            grounded.add_precondition(self._plain(self._substituter.substitute(condition, binding)))
        values: dict[FNode, bool] = {}
        for effect in self._expanded(action.effects):
            if not effect.fluent.type.is_bool_type():
                continue  # costs
            condition = self._substituter.substitute(effect.condition, binding)
            holds = self._evaluator.evaluate(condition, state).is_true()
            if not condition.is_true():
                plain = self._plain(condition)
                grounded.add_precondition(plain if holds else self._env.expression_manager.Not(plain))
            if holds:
                atom = self._substituter.substitute(effect.fluent, binding)
                values[atom] = values.get(atom, False) or effect.value.is_true()  # adding wins over deleting
        for atom, value in values.items():
            grounded.add_effect(self._proposition(atom), value)
        return grounded

    def _expanded(self, effects: Sequence[Effect]) -> list[Effect]:
        return [single for effect in effects for single in effect.expand_effect(self._source)]

    def _plain(self, condition: FNode) -> FNode:
        """A ground condition without quantifiers, over propositions."""
        ground = self._quantifiers.remove_quantifiers(condition, self._source).simplify()
        atoms = {atom: self._proposition(atom) for atom in self._env.free_vars_extractor.get(ground)}
        return self._substituter.substitute(ground, atoms)

    def _proposition(self, atom: FNode) -> FNode:
        if atom not in self._fluents:
            name = "__".join([atom.fluent().name, *(str(a) for a in atom.args)])
            self._fluents[atom] = Fluent(name, environment=self._env)
        return self._env.expression_manager.FluentExp(self._fluents[atom])
