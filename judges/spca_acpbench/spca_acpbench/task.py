"""A planning problem as the stack reads it, made ground as far as a question needs it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from spca_acpbench.questions import Atom
from spca_core.plan import Draft, Plan, Step
from spca_planner.pddl.formula import atoms, evaluate, ground
from spca_planner.pddl.lint import parse
from spca_planner.pddl.reachability import conjuncts
from spca_planner.pddl.sexpr import Group
from spca_planner.pddl.syntax import Action
from spca_planner.prediction import predict

State = frozenset[Atom]


@dataclass(frozen=True)
class Ground:
    """A ground action: the atoms among its preconditions, and what it adds and deletes."""

    name: Atom
    needs: frozenset[Atom]
    adds: frozenset[Atom]
    deletes: frozenset[Atom]


class Task:
    """One problem. `initial` is its state; effects are conjunctions of literals."""

    def __init__(self, domain: str, problem: str) -> None:
        self.draft = Draft(domain=domain, problem=problem)
        self.domain, self.problem = parse(domain, problem)
        self.initial: State = frozenset(
            ground(f, {}) for f in self.problem.init if f.head not in ("=", "not")
        )
        self._types = {o.name: o.type for o in (*self.domain.constants, *self.problem.objects)}

    def holds(self, condition: Group | None, state: State, binding: Mapping[str, str] | None = None) -> bool:
        """Return whether a condition holds in a state in which everything else is false."""
        truth = evaluate(condition, lambda atom: atom in state, self.domain, self.problem, binding or {})
        return truth is True

    def is_goal(self, state: State) -> bool:
        """Return whether the goal holds."""
        return self.holds(self.problem.goal, state)

    def applicable(self, state: State, relaxed: bool = False) -> Iterator[Ground]:
        """Every ground action whose precondition holds; `relaxed`: whose positive atoms do."""
        known: dict[tuple[str | int, ...], list[Atom]] = defaultdict(list)
        for atom in state:
            known[atom[:1]].append(atom)
            for place, name in enumerate(atom[1:], 1):
                known[atom[0], place, name].append(atom)
        for action in self.domain.actions.values():
            parts = conjuncts(action.precondition) if action.precondition else []
            positive = [p for p in parts if p.head in self.domain.predicates]
            for binding in self._matches(action, positive, known):
                if relaxed:
                    others = (p for p in parts if p not in positive and not any(atoms(p, positive=False)))
                    possible = all(self.holds(p, state, binding) for p in others)
                else:
                    possible = self.holds(action.precondition, state, binding)
                if possible:
                    yield self._ground(action, positive, binding)

    def after(self, state: State, action: Ground) -> State:
        """The state after a ground action; adding wins over deleting."""
        return (state - action.deletes) | action.adds

    def states(self, steps: list[Atom]) -> list[State]:
        """The states before each step and after the last, by the stack's own prediction."""
        plan = Plan(steps=tuple(Step(action=s[0], args=s[1:]) for s in steps), schemas=(), draft=self.draft)
        return [self.initial, *predict(plan).states]

    def first_inapplicable(self, steps: list[Atom]) -> int | None:
        """Index of the first step whose precondition does not hold, or None."""
        for index, (step, state) in enumerate(zip(steps, self.states(steps), strict=False)):
            action = self.domain.actions[step[0]]
            binding = dict(zip((p.name for p in action.parameters), step[1:], strict=True))
            if not self.holds(action.precondition, state, binding):
                return index
        return None

    def solves(self, steps: list[Atom]) -> bool:
        """Return whether a sequence of actions is a plan."""
        return self.first_inapplicable(steps) is None and self.is_goal(self.states(steps)[-1])

    @cached_property
    def operators(self) -> dict[Atom, Ground]:
        """All actions that can be applied when nothing ever becomes false, by name."""
        found: dict[Atom, Ground] = {}
        reached, size = set(self.initial), -1
        while size != len(reached):
            size = len(reached)
            found = {a.name: a for a in self.applicable(frozenset(reached), relaxed=True)}
            reached.update(*(a.adds for a in found.values()))
        return found

    def relaxed(self, banned: Atom | None = None) -> State:
        """All atoms that can hold when nothing ever becomes false and no action adds `banned`."""
        missing: dict[Atom, int] = {}
        waiting: dict[Atom, list[Ground]] = defaultdict(list)
        reached, frontier = set(self.initial), list(self.initial)
        for action in self.operators.values():
            if banned not in action.adds:
                missing[action.name] = len(action.needs)
                for atom in action.needs:
                    waiting[atom].append(action)
                if not action.needs:
                    frontier += action.adds - reached
                    reached |= action.adds
        while frontier:
            for action in waiting[frontier.pop()]:
                missing[action.name] -= 1
                if not missing[action.name]:
                    frontier += action.adds - reached
                    reached |= action.adds
        return frozenset(reached)

    def every_atom(self) -> Iterator[Atom]:
        """Every atom of right types whose predicate some action changes."""
        effects = [literals(action.effect) for action in self.domain.actions.values()]
        changed = {literal.head for both in effects for literals in both for literal in literals}
        for name, signature in self.domain.predicates.items():
            if name in changed:
                kinds = [self.problem.of_type(self.domain, p.type) for p in signature.parameters]
                for arguments in product(*kinds):
                    yield (name, *arguments)

    def every_action(self) -> Iterator[Atom]:
        """Every ground action of right types."""
        for action in self.domain.actions.values():
            kinds = [self.problem.of_type(self.domain, p.type) for p in action.parameters]
            for arguments in product(*kinds):
                yield (action.name, *arguments)

    def precondition(self, action: Atom) -> str:
        """The ground precondition of an action, as PDDL."""
        schema = self.domain.actions[action[0]]
        binding = dict(zip((p.name for p in schema.parameters), action[1:], strict=True))
        text = str(schema.precondition) if schema.precondition else "(and)"
        for name in sorted(binding, key=len, reverse=True):
            text = text.replace(f"{name} ", f"{binding[name]} ").replace(f"{name})", f"{binding[name]})")
        return text

    def _matches(
        self, action: Action, positive: list[Group], known: Mapping[tuple[str | int, ...], list[Atom]]
    ) -> Iterator[dict[str, str]]:
        """The bindings for which all positive atoms are known; other parameters take every object."""
        kinds = {p.name: p.type for p in action.parameters}

        def fitting(pattern: Atom) -> list[Atom]:
            """Atoms that agree with the pattern in the argument that fewest have, if it has one."""
            named = (known.get((pattern[0], k, t), []) for k, t in enumerate(pattern[1:], 1) if t[0] != "?")
            return min(named, key=len, default=known.get(pattern[:1], []))

        def extend(bound: dict[str, str], left: list[Group]) -> Iterator[dict[str, str]]:
            if not left:
                free = [name for name in kinds if name not in bound]
                for values in product(*(self.problem.of_type(self.domain, kinds[n]) for n in free)):
                    yield {**bound, **dict(zip(free, values, strict=True))}
                return
            patterns = [(ground(g, bound), g) for g in left]
            found, pattern, best = min(((fitting(p), p, g) for p, g in patterns), key=lambda f: len(f[0]))
            rest = [g for g in left if g is not best]
            for atom in found:
                more = self._unified(pattern, atom, kinds)
                if more is not None:
                    yield from extend({**bound, **more}, rest)

        yield from extend({}, positive)

    def _unified(self, pattern: Atom, atom: Atom, kinds: Mapping[str, str]) -> dict[str, str] | None:
        more: dict[str, str] = {}
        for term, name in zip(pattern[1:], atom[1:], strict=True):
            if not term.startswith("?"):
                if term != name:
                    return None
            elif more.setdefault(term, name) != name or not self.domain.is_a(self._types[name], kinds[term]):
                return None
        return more

    def _ground(self, action: Action, positive: list[Group], binding: Mapping[str, str]) -> Ground:
        adds, deletes = literals(action.effect)
        return Ground(
            (action.name, *(binding[p.name] for p in action.parameters)),
            frozenset(ground(g, binding) for g in positive),
            frozenset(ground(g, binding) for g in adds),
            frozenset(ground(g, binding) for g in deletes),
        )


def literals(effect: Group | None) -> tuple[list[Group], list[Group]]:
    """Return the literals that a conjunction adds, and those that it deletes."""
    adds: list[Group] = []
    deletes: list[Group] = []
    for part in conjuncts(effect) if effect is not None else []:
        inner = part.items[1] if part.head == "not" else None
        if isinstance(inner, Group):
            deletes.append(inner)
        elif part.head != "increase":
            adds.append(part)
    return adds, deletes
