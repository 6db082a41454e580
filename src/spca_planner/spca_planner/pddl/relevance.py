"""Leaves out of a problem what no step can matter to, so that a search does not pay for it.

Kept is what the goal names, what an initial fact ties to something kept (it stands on it, or is in its way),
and what plays a part in the initial state that nothing kept plays. Where conditions have quantifiers, or only
a detour leads to the goal, that may be too little: a plan has to be validated in the whole problem, and
without one the whole problem has to be searched.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import chain

from spca_planner.pddl.formula import Atom, Change, atoms, changes, ground
from spca_planner.pddl.reachability import conjuncts
from spca_planner.pddl.syntax import Action, Domain, Problem


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
