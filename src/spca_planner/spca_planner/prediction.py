"""What the PDDL of a plan says: its goal in words, what each step changes, and what was seen of that.

What a step does not mention stays where it is (the frame rule).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, product

from spca_core.plan import Draft, Plan, Step
from spca_core.ports.reading import Evidence, Literal, SideEffect, StepEvidence
from spca_core.ports.vocabulary import Extension, Vocabulary
from spca_core.scene import ROLES, Observation
from spca_planner.critics import with_synonyms
from spca_planner.pddl.formula import Atom, Truth, atoms, bindings, changes, evaluate, ground, unmet
from spca_planner.pddl.lint import parse, quantified
from spca_planner.pddl.sexpr import Group, PddlError
from spca_planner.pddl.syntax import Action, Domain, Problem

FRAME_M = 0.01
"""Distance in metres that a thing may move in a step that does not mention it."""
NUDGED_M = 0.03
"""Distance in metres that a thing may move if a step mentions it as a place only, such as a container."""
_REMOTE_M = 0.15
"""Distance in metres from everything that a step is about beyond which nothing is near its work."""
_ERROR_M = 0.01
"""Distance in metres that the error of a camera may add between two looks."""


@dataclass(frozen=True)
class Prediction:
    """The predicted facts of a plan, step by step.

    `effects[i]` are the atoms that step i changes, with their new truth; `states[i]` the atoms that hold
    after it.
    """

    domain: Domain
    problem: Problem
    effects: tuple[Mapping[Atom, bool], ...]
    states: tuple[frozenset[Atom], ...]

    def after(self, count: int) -> tuple[Literal, ...]:
        """Return what so many first steps are to have changed in the end."""
        final = dict(chain.from_iterable(effects.items() for effects in self.effects[:count]))
        return tuple(Literal(atom=atom, holds=holds) for atom, holds in final.items())

    def says(self, atom: Atom) -> bool:
        """Return whether the domain has a predicate for that atom, with these objects as its arguments."""
        types = {o.name: o.type for o in (*self.domain.constants, *self.problem.objects)}
        return self.domain.says(atom, types)


@lru_cache(maxsize=32)
def predict(plan: Plan) -> Prediction:
    """Return the progression of the initial state through a plan's steps, by the closed-world assumption."""
    domain, problem = parse(plan.draft.domain, plan.draft.problem)
    state = frozenset(ground(fact, {}) for fact in problem.init if fact.head not in ("=", "not"))
    effects: list[dict[Atom, bool]] = []
    states = []
    for step in plan.steps:
        action = domain.actions[step.action.lower()]
        binding = bound(action, step)
        found: dict[Atom, bool] = {}
        for change in changes(action.effect):
            for inner in bindings(change.scope, domain, problem, binding):
                if all(evaluate(c, state.__contains__, domain, problem, inner) for c in change.conditions):
                    atom = ground(change.atom, inner)
                    found[atom] = change.added or found.get(atom, False)  # adding wins over deleting
        changed = {atom: value for atom, value in found.items() if (atom in state) != value}
        state = (state - {a for a, v in changed.items() if not v}) | {a for a, v in changed.items() if v}
        effects.append(changed)
        states.append(state)
    return Prediction(domain, problem, tuple(effects), tuple(states))


def bound(action: Action, step: Step) -> dict[str, str]:
    """Return the arguments of a step by its action's parameters, in PDDL's lower case."""
    return {p.name: arg.lower() for p, arg in zip(action.parameters, step.args, strict=True)}


def _unready(prediction: Prediction, step: Step, look: ObservedAtoms) -> tuple[Literal, ...]:
    """Return what a step needs and the look before it shows not to be so."""
    action = prediction.domain.actions[step.action.lower()]
    binding = bound(action, step)
    if evaluate(action.precondition, look.truth, prediction.domain, prediction.problem, binding) is not False:
        return ()
    return unmet(action.precondition, look.truth, binding)


def _overlooked(prediction: Prediction, step: Step, index: int, look: ObservedAtoms) -> Iterator[Literal]:
    """Yield what the look after a step shows of its own things otherwise than predicted, but for roles."""
    names = sorted({a.lower() for a in step.args} | {c.name for c in prediction.domain.constants})
    state, effects = prediction.states[index], prediction.effects[index]
    for predicate, signature in prediction.domain.predicates.items():
        for args in product(names, repeat=len(signature.parameters)):
            atom = (predicate, *args)
            mirrored = (predicate, *args[:-2], *args[:-3:-1]) in state
            truth = look.settled(atom)
            if truth is None or truth == (atom in state) or atom in effects or (truth and mirrored):
                continue
            if predicate not in ROLES and prediction.says(atom):
                yield Literal(atom=atom, holds=truth)


class ObservedAtoms:
    """Truth of atoms by one observation."""

    def __init__(self, observation: Observation | None, domain: Domain, vocabulary: Vocabulary) -> None:
        """Hold the truth of atoms by an `observation`; without one, nothing is known of any atom."""
        self._observation, self._domain, self._vocabulary = observation, domain, vocabulary
        shown = vocabulary.after(observation) if observation else {}
        self._extensions: Mapping[str, Extension] = with_synonyms(domain, vocabulary.words(), shown)[0]

    def truth(self, atom: Atom) -> Truth:
        """Return whether the observation shows the atom; None where it has nothing to say."""
        extension = self._extensions.get(atom[0])
        if extension is None or self._observation is None:
            return None
        if any(arg in self._observation.hidden for arg in atom[1:]):
            return None
        missing = [arg for arg in atom[1:] if arg not in self._observation.objects]
        if (
            missing
            and (more := self._vocabulary.with_places(self._observation, missing)) is not self._observation
        ):
            return ObservedAtoms(more, self._domain, self._vocabulary).truth(atom)
        if missing and len(missing) < len(atom) - 1:
            return False  # it is nowhere in sight, so it is in no relation to what is
        return extension.truth(atom[1:], self._observation.objects)

    def settled(self, atom: Atom) -> Truth:
        """Return the atom's truth; None also where the list of what is seen need not be complete."""
        extension = self._extensions.get(atom[0])
        return self.truth(atom) if extension and len(extension.kinds) == len(atom) - 1 else None

    def alike(self, atom: Atom) -> list[Atom]:
        """Return every atom shown that has the same predicate and the same first thing."""
        extension = self._extensions.get(atom[0], Extension((), frozenset()))
        return [(atom[0], *args) for args in sorted(extension.atoms) if args[:1] == atom[1:2]]


def mentioned(step: Step, effects: Mapping[Atom, bool]) -> set[str]:
    """Return the things that a step is about, in lower case: its arguments, and those of its effects."""
    return {arg.lower() for arg in step.args} | {arg for atom in effects for arg in atom[1:]}


def allowance(thing: str, step: Step, effects: Mapping[Atom, bool]) -> float:
    """Return how far, in metres, a step may move a thing.

    What comes to be somewhere else is the first argument of an effect, but for one that says that something
    is clear; without any effect, every argument is. Another thing that is mentioned may be nudged.
    """
    name = thing.lower()
    if name not in mentioned(step, effects):
        return FRAME_M
    moving = {atom[1] for atom in effects if len(atom) > 1 and atom[0] != "clear"}
    return math.inf if name in moving or not moving else NUDGED_M


def disturbances(
    steps: Sequence[Step], effects: Sequence[Mapping[Atom, bool]], looks: Sequence[Observation | None]
) -> tuple[SideEffect, ...]:
    """Return what moved between two looks although no step between them is about it.

    Args:
        steps: the steps carried out.
        effects: what each of them is predicted to change.
        looks: one before the first step, one after each, and one at the end; None, or a look that measures
            no positions, says nothing.
    """
    found = []
    since, before = 0, looks[0].positions if looks[0] else {}
    for index, look in enumerate(looks[1:]):
        now = look.positions if look else {}
        between = range(since, min(index + 1, len(steps)))
        if not now or not between:
            continue
        for thing in sorted(now.keys() & before.keys()):
            metres = math.dist(now[thing], before[thing])
            if metres > max(allowance(thing, steps[i], effects[i]) for i in between) + _ERROR_M:
                about = {name for i in between for name in mentioned(steps[i], effects[i])}
                places = (look[name] for look in (before, now) for name in look if name.lower() in about)
                remote = min((math.dist(p, before[thing]) for p in places), default=0.0) > _REMOTE_M
                found.append(SideEffect(steps=tuple(between), sentence=moved(thing, metres), remote=remote))
        since, before = index + 1, now
    return tuple(found)


def moved(thing: str, metres: float) -> str:
    """Describe how far a thing moved that no step is to move."""
    return f"{thing} moves by {metres * 100:.0f} cm, and the step is not about that"


_MOST_WAYS = 64


class PddlReader:
    """A `PlanReader` for the environment of that vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def goal(self, draft: Draft) -> str:
        """See `PlanReader`: what will count as done, whoever drafted it."""
        try:
            return ". ".join(filter(None, (self.say(_ways(draft)), draft.remark)))
        except PddlError:
            return ""

    def met(self, draft: Draft, seen: Observation) -> str:
        """See `PlanReader`."""
        look = ObservedAtoms(seen, parse(draft.domain, draft.problem)[0], self._vocabulary)
        told = [{atom: look.truth(atom) for atom in way} for way in _ways(draft)]
        possible = sorted(
            (way for way in told if False not in way.values()), key=lambda way: None in way.values()
        )
        return self.say([frozenset(atom for atom, holds in way.items() if holds) for way in possible[:1]])

    def say(self, ways: Sequence[frozenset[Atom]]) -> str:
        """See `PlanReader`: in the words of the environment."""
        return self._vocabulary.say(ways)

    def predicted(self, plan: Plan) -> tuple[str, ...]:
        """See `PlanReader`."""
        try:
            prediction = predict(plan)
        except (PddlError, KeyError, ValueError):  # a plan that no validator has seen
            return ()
        changes = (sorted(effects.items()) for effects in prediction.effects)
        return (*map(str, changes), str(prediction.problem.goal))

    def weigh(
        self,
        plan: Plan,
        seen: Sequence[Observation | None],
        afterwards: Observation | None,
        before: Observation | None = None,
    ) -> Evidence:
        """See `PlanReader`.

        What was seen `before` the first step shows what moved since. An effect is looked for from the end of
        its step until another step is to change it again. The first look that says something decides: what is
        undone later is not this step's doing. Without such a look it stays unjudged.
        """
        try:
            prediction = predict(plan)
        except (PddlError, KeyError):  # a plan that no solver has proven
            return Evidence()
        looks = [
            ObservedAtoms(observation, prediction.domain, self._vocabulary)
            for observation in (*seen, afterwards)
        ]
        count = len(seen)
        steps = []
        for index, effects in enumerate(prediction.effects[:count]):
            verdicts: dict[bool | None, list[Literal]] = {True: [], False: [], None: []}
            undone: list[Literal] = []
            for atom, holds in effects.items():
                end = next((j for j in range(index + 1, count) if atom in prediction.effects[j]), count + 1)
                truths = [t for j in range(index, end) if (t := looks[j].truth(atom)) is not None]
                literal = Literal(atom=atom, holds=holds)
                verdicts[truths[0] == holds if truths else None].append(literal)
                if index == count - 1 and truths and truths[0] == holds != truths[-1]:
                    undone.append(literal)
            shown = looks[-1] if index == count - 1 and seen[index] is None else looks[index]
            steps.append(
                StepEvidence(
                    confirmed=tuple(verdicts[True]),
                    undone=tuple(undone),
                    contradicted=tuple(verdicts[False]),
                    unjudged=tuple(verdicts[None]),
                    overlooked=tuple(_overlooked(prediction, plan.steps[index], index, shown)),
                )
            )
        last = looks[-1]
        goal = prediction.problem.goal
        unseen = [a for group in atoms(goal) if last.truth(a := ground(group, {})) is None]
        return Evidence(
            steps=tuple(steps),
            goal=evaluate(goal, last.truth, prediction.domain, prediction.problem),
            expected=prediction.after(count),
            goal_unseen=tuple(unseen),
            goal_false=unmet(goal, last.truth),
            disturbances=disturbances(plan.steps[:count], prediction.effects, (before, *seen, afterwards)),
            unready=_unready(prediction, plan.steps[count - 1], looks[count - 2]) if count > 1 else (),
        )


def _ways(draft: Draft) -> list[frozenset[Atom]]:
    """Return the conjunctions of atoms any of which fulfils a draft's goal; of very many, only some.

    That an atom must not hold is left out beside another one about the same things, as is what never changes.
    """
    domain, problem = parse(draft.domain, draft.problem)
    changed = {change.atom.head for action in domain.actions.values() for change in changes(action.effect)}
    given, found = {ground(fact, {}) for fact in problem.init}, []

    def fixed(atom: Atom) -> Truth:
        return None if atom[0] in changed else atom in given

    for way in _grounded(problem.goal, True, domain, problem, {}, fixed):
        about = {atom[1:] for atom, holds in way if holds}
        denied = {(f"not {a[0]}", *a[1:]) for a, holds in way if not holds and a[1:] not in about}
        found.append(frozenset({atom for atom, holds in way if holds} | denied))
    sane = [way for way in found if all(len({*atom}) == len(atom) for atom in way)]
    return sane or found  # nothing is in a relation to itself


def _grounded(
    condition: Group,
    wanted: bool,
    domain: Domain,
    problem: Problem,
    binding: Mapping[str, str],
    fixed: Callable[[Atom], Truth],
) -> list[frozenset[tuple[Atom, bool]]]:
    """Return the ways in which a condition is as wanted: the atoms that have to hold, or not to.

    `fixed` says what holds whatever is done.
    """
    head, parts = condition.head, condition.groups
    if head == "not":
        return _grounded(parts[0], not wanted, domain, problem, binding, fixed)
    if head == "=":
        return [frozenset()] if (len({*ground(condition, binding)[1:]}) == 1) == wanted else []
    if condition.items and head not in ("and", "or", "imply", "exists", "forall"):
        atom = ground(condition, binding)
        if (holds := fixed(atom)) is not None:
            return [frozenset()] if holds is wanted else []
        return [frozenset({(atom, wanted)})]
    cases = [(part, wanted != (head == "imply" and i == 0), binding) for i, part in enumerate(parts)]
    if head in ("exists", "forall"):
        cases = [(parts[1], wanted, way) for way in bindings(quantified(parts[0]), domain, problem, binding)]
    ways = [_grounded(part, holds, domain, problem, inner, fixed) for part, holds, inner in cases]
    if (head in ("or", "imply", "exists")) == wanted:
        return list(dict.fromkeys(chain(*ways)))[:_MOST_WAYS]
    return [frozenset().union(*way) for way in islice(product(*ways), _MOST_WAYS)]
