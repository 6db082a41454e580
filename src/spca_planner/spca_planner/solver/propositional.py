"""A plan and its problem without variables: what a validator for plain propositional planning can check.

TAMER takes neither type hierarchies nor quantifiers nor conditional effects. Along a given plan none is
needed: every step becomes an action of its own, without parameters; a conditional effect stays when its
condition holds in the trace of the other validator, and the condition (or its negation) becomes a
precondition, so that nothing is taken on trust: if the trace was wrong, that precondition fails. Of a
disjunction the one part that holds in the trace is kept, which is a stronger condition: TAMER writes all
conditions in disjunctive normal form, which grows exponentially with their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
        goals = [literal for g in problem.goals for literal in self._literals(g, True, trace[-1])]
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
            ground = self._substituter.substitute(condition, binding)
            for literal in self._literals(ground, True, state):
                grounded.add_precondition(literal)
        values: dict[FNode, bool] = {}
        for effect in self._expanded(action.effects):
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

    def _expanded(self, effects: Sequence[Effect]) -> list[Effect]:
        return [single for effect in effects for single in effect.expand_effect(self._source)]

    def _literals(self, condition: FNode, wanted: bool, state: State) -> list[FNode]:
        """Literals over propositions that hold in `state`, and from which `condition` is as `wanted`.

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
