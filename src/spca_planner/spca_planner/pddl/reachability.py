"""Explains why a problem has no plan, by delete relaxation: effects that make atoms false are ignored.

Leaves out of it what no step can matter to, too. Kept is what the goal names, what an initial fact ties to
something kept (it stands on it, or is in its way), and what plays a part in the initial state that nothing
kept plays. Where conditions have quantifiers, or only a detour leads to the goal, that may be too little: a
plan has to be validated in the whole problem, and without one the whole problem has to be searched.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Mapping
from itertools import chain

from spca_planner.pddl.formula import Atom, Change, atoms, bindings, changes, evaluate, ground
from spca_planner.pddl.sexpr import Group, brief
from spca_planner.pddl.syntax import Action, Domain, Problem

_MOST_ACTIONS = 20_000
"""Number of ground actions beyond which no explanation is tried, as it would take longer than it is worth."""
_MOST_PRODUCERS = 500
"""Maximum number of ground actions that are looked at for one atom."""
_LONGEST_CHAIN = 6


class TooLarge(Exception):
    """The problem cannot be examined within the limits."""


def why_unsolvable(domain: Domain, problem: Problem, seconds: float) -> str:
    """Return a sentence about the first goal that no action can ever bring about; empty if there is none.

    It follows the missing preconditions down to the cause: an effect that no action has, or a fact that
    nothing makes true. Method: the usual relaxation in which true atoms stay true (and negations are taken to
    hold), so what is found unreachable really is; what is found reachable may still be impossible.
    """
    try:
        return _Relaxation(domain, problem, time.process_time() + seconds).explanation()
    except TooLarge:
        return ""


def conjuncts(goal: Group) -> list[Group]:
    """Return the conditions that a goal joins by `and`."""
    return [c for part in goal.groups for c in conjuncts(part)] if goal.head == "and" else [goal]


class _Relaxation:
    """All atoms that can become true when nothing ever becomes false."""

    def __init__(self, domain: Domain, problem: Problem, deadline: float) -> None:
        self._domain, self._problem, self._deadline = domain, problem, deadline
        self._types = {o.name: o.type for o in (*domain.constants, *problem.objects)}
        self._reached = {ground(f, {}) for f in problem.init if f.head not in ("=", "not")}
        self._reach()

    def explanation(self) -> str:
        for part in conjuncts(self._problem.goal):
            if part.head == "not" or self._holds(part, {}) is not False:
                continue
            missing = [a for a in (ground(atom, {}) for atom in atoms(part)) if a not in self._reached]
            blamed = next((a for a in missing if not any(t.startswith("?") for t in a)), None)
            why = f": {self._why_not(blamed, ())}" if blamed else ""
            return f"nothing can make {brief(part)} true{why}"
        return ""

    def _why_not(self, atom: Atom, chain: tuple[Atom, ...]) -> str:
        """Explain why an atom never becomes true; `chain` are those that are missing because of it."""
        makers = [
            a for a in self._domain.actions.values() if any(e.atom.head == atom[0] for e in _added(a.effect))
        ]
        if not makers:
            return f"no action has '{atom[0]}' among its effects, and (:init …) does not state {_shown(atom)}"
        producers = list(self._producers(makers, atom))
        if not producers:
            names = " and ".join(a.name for a in makers)
            return f"no action can produce {_shown(atom)}: {names} cannot have these arguments"
        name, unmet = min(
            producers, key=lambda p: (len(p[1]), any(a in chain for a in p[1] if isinstance(a, tuple)))
        )
        if not unmet:
            return ""
        first = unmet[0]
        if not isinstance(first, tuple):
            return f"{name} would, but its precondition {brief(first)} never holds"
        needs = f"{name} needs {_shown(first)}"
        if first in (*chain, atom):
            return f"{needs}, which needs {_shown(atom)} itself"
        if len(chain) == _LONGEST_CHAIN:
            return f"{needs}, which nothing can make true"
        return f"{needs}; {self._why_not(first, (*chain, atom))}"

    def _producers(self, makers: list[Action], atom: Atom) -> Iterator[tuple[str, list[Atom | Group]]]:
        """Yield every ground action with that effect, and which of its preconditions never hold."""
        count = 0
        for action in makers:
            types = {p.name: p.type for p in action.parameters}
            for effect in _added(action.effect):
                bound = self._unified(effect.atom, atom, {**types, **effect.scope})
                if bound is None:
                    continue
                free = {name: kind for name, kind in types.items() if name not in bound}
                for binding in bindings(free, self._domain, self._problem, bound):
                    if (count := count + 1) > _MOST_PRODUCERS:
                        return
                    self._check_time()
                    arguments = " ".join(binding[name] for name in types)
                    conditions = (action.precondition, *effect.conditions)
                    unmet = [part for condition in conditions for part in self._unmet(condition, binding)]
                    yield f"({action.name}{' ' if arguments else ''}{arguments})", unmet

    def _unified(self, effect: Group, atom: Atom, types: Mapping[str, str]) -> dict[str, str] | None:
        """Return the binding of an effect's variables that makes it that atom; None if there is none."""
        pattern = ground(effect, {})
        if pattern[0] != atom[0] or len(pattern) != len(atom):
            return None
        bound: dict[str, str] = {}
        for term, name in zip(pattern[1:], atom[1:], strict=True):
            if term.startswith("?"):
                fits = self._domain.is_a(self._types.get(name, ""), types[term])
                if not fits or bound.setdefault(term, name) != name:
                    return None
            elif term != name:
                return None
        return bound

    def _unmet(self, condition: Group | None, binding: Mapping[str, str]) -> list[Atom | Group]:
        if condition is None or not condition.items:
            return []
        unmet = [part for part in conjuncts(condition) if not self._possible(part, binding)]
        return [ground(p, binding) if p.head in self._domain.predicates else p for p in unmet]

    def _reach(self) -> None:
        instances: list[tuple[Mapping[str, str], Action]] = []
        for action in self._domain.actions.values():
            types = {p.name: p.type for p in action.parameters}
            for binding in bindings(types, self._domain, self._problem, {}):
                instances.append((binding, action))
                if len(instances) > _MOST_ACTIONS:
                    raise TooLarge
        size = -1
        while size != len(self._reached):
            size = len(self._reached)
            for bound, action in instances:
                self._check_time()
                if self._possible(action.precondition, bound):
                    for effect in _added(action.effect):
                        for full in bindings(effect.scope, self._domain, self._problem, bound):
                            if all(self._possible(condition, full) for condition in effect.conditions):
                                self._reached.add(ground(effect.atom, full))

    def _possible(self, condition: Group | None, binding: Mapping[str, str]) -> bool:
        """Return whether a condition may hold in the relaxation; negated parts are taken to be possible."""
        if condition is None or not condition.items:
            return True
        if condition.head == "and":
            return all(self._possible(p, binding) for p in condition.groups)
        return any(atoms(condition, positive=False)) or self._holds(condition, binding) is True

    def _holds(self, condition: Group, binding: Mapping[str, str]) -> bool | None:
        return evaluate(condition, lambda atom: atom in self._reached, self._domain, self._problem, binding)

    def _check_time(self) -> None:
        if time.process_time() > self._deadline:
            raise TooLarge


def _added(effect: Group | None) -> list[Change]:
    return [change for change in changes(effect) if change.added]


def _shown(atom: Atom) -> str:
    return f"({' '.join(atom)})"


def without_bystanders(domain: Domain, problem: Problem, text: str) -> str:
    """Return a problem's `text` without the objects that no plan need know of; lines keep their numbers."""
    kept = _kept(domain, problem)
    left_out = {o.name for o in problem.objects} - kept
    if not left_out:
        return text
    shown = " ".join(f"{o.name} - {o.type}" for o in problem.objects if o.name in kept)
    facts = [f for f in problem.init if not left_out.isdisjoint(f.words)]
    cuts = [(*problem.objects_at, f"(:objects {shown})"), *((f.start, f.end, "") for f in facts)]
    for start, end, instead in reversed(cuts):
        text = text[:start] + instead + "\n" * text.count("\n", start, end) + text[end:]
    return text


def _kept(domain: Domain, problem: Problem) -> set[str]:
    goal = [ground(g, {}) for sign in (True, False) for g in atoms(problem.goal, sign)]
    kept = {name for atom in goal for name in atom[1:]}
    if any(name.startswith("?") for name in kept) or "or" in problem.goal.words:
        return {o.name for o in problem.objects}  # which of the ways is taken may depend on the others
    initial = [ground(fact, {}) for fact in problem.init if fact.head not in ("=", "not")]
    live = _live(domain, {atom[0] for atom in initial})
    pairs = [(action, change) for action in live for change in changes(action.effect)]
    changed = {change.atom.head for _, change in pairs}
    told = [(action, change, _told(action, change, changed)) for action, change in pairs]
    wanted = {atom[0] for *_, found in told for atom in found}
    useful = wanted | {atom[0] for atom in goal}
    ties = {tie for _, change, found in told if change.atom.head in useful for tie in _ties(change, found)}
    # What is true of a constant by itself never matters: everything may be on the table.
    alone = set[tuple[str, str]]()
    for action, change, found in told:
        scope = {**{p.name: p.type for p in action.parameters}, **change.scope}
        alone |= {(atom[1], scope.get(atom[1], "")) for atom in found if len(atom) == 2}
    alone |= {(atom[1], "") for atom in goal if len(atom) == 2}
    constants = {c.name: c.type for c in domain.constants}
    settled = {name for name, kind in constants.items()
               if not any(term == name or domain.is_a(kind, of) for term, of in alone)}  # fmt: skip
    forbidden = [set(a[1:]) for a in initial if a[0] not in wanted and not constants.keys().isdisjoint(a)]
    facts = [atom for atom in initial if atom[0] in wanted]
    parts: dict[str, set[tuple[str, object]]] = {
        o.name: {(a.name, p) for a in live for p in a.parameters if domain.is_a(o.type, p.type)}
        for o in (*domain.constants, *problem.objects)
    }
    for predicate, *names in facts:
        for position, name in enumerate(names):
            parts[name].add((predicate, position))
    while True:
        size = len(kept)
        kept |= {a[j] for a in facts for name, i, j in ties if name == a[0] and a[i] in kept - settled}
        if size == len(kept):
            if any(names <= kept | constants.keys() for names in forbidden):
                return {*parts}  # what must not go where everything may needs another place
            played = set(chain(*(parts[name] for name in kept | constants.keys())))
            kept |= set([name for name in parts if not parts[name] <= played][:1])
        if size == len(kept):
            return kept


def _live(domain: Domain, known: set[str]) -> list[Action]:
    """Return the actions whose preconditions name only predicates of which something may come to hold."""
    found: dict[str, Action] = {}
    for action in (*domain.actions.values(),) * len(domain.actions):
        parts = conjuncts(action.precondition) if action.precondition else []
        needed = {part.head for part in parts if part.head in domain.predicates}
        if action.name not in found and needed <= known:
            found[action.name] = action
            known = known | {change.atom.head for change in changes(action.effect)}
    return list(found.values())


def _told(action: Action, change: Change, changed: Container[str]) -> list[Atom]:
    """Return the atoms of a change's conditions, but for those that nothing changes and that only forbid."""
    conditions = (action.precondition, *change.conditions)
    found = [(a, sign) for c in conditions for sign in (True, False) for a in atoms(c, sign)]
    return [ground(atom, {}) for atom, sign in found if sign or atom.head in changed]


def _ties(change: Change, told: list[Atom]) -> Iterator[tuple[str, int, int]]:
    """Yield (predicate, i, j) where, for the i-th argument's sake, the j-th of a fact has to be known."""
    reached = set(ground(change.atom, {})[1:])
    for atom in told * len(told):
        known = [i for i, term in enumerate(atom) if i and term in reached]
        yield from ((atom[0], i, j) for i in known for j in range(1, len(atom)) if i != j)
        reached |= set(atom[1:]) if known else set()
