"""PDDL problems of the tabletop domain, from an observation and a goal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from pathlib import Path

from spca_core.kinds import CONTAINERS, DOMED, KINDS, MESHES, SOLIDS, STACKABLE, SUPPORTS, TOPLESS, UNKNOWN
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, words_of
from spca_core.plan import Draft
from spca_core.ports.proposer import Impossible
from spca_core.relation import place_of, relations
from spca_core.scene import Fact, Observation
from spca_core.skill_package import extended_domain
from spca_tabletop.act.grasps import WIDEST
from spca_tabletop.language.goal import RULES, Atom, Goal

_KINDS = (*SOLIDS, *SUPPORTS)
OBSTRUCTIONS = {"blocks": "blocked", "hems": "blocked", "crowds": "crowded", "obstructs": "obstructed"}
"""Names of what one thing does to another according to Sense, with what the other then is in the domain."""


@lru_cache(maxsize=1)
def domain() -> str:
    """Return the tabletop's domain, with the kinds and actions of installed packages and of relations."""
    text = (Path(__file__).parent / "domain.pddl").read_text()
    leans = [(row.name, kind) for row in relations() if row.rests == TABLE_SYMBOL for kind in row.of]
    ended = (f"(forall (?x - {kind}) (not ({name} ?c ?x)))" for name, kind in leans)
    text = text.replace(";ended", "\n      ".join(ended))
    return extended_domain("tabletop", text.replace("ball - solid", " ".join(["ball", *MESHES, "- solid"])))


def problem(observation: Observation, goals: Sequence[Goal]) -> str:
    """Return a problem whose goal is any of `goals`. Raises Impossible if a needed thing is out of reach."""
    observation = with_places(observation, (name for goal in goals for atom in goal for name in atom[1:]))
    goals = _within_reach(observation, goals)
    goals = [goal for goal in goals if _rules(goal) == _rules(goals[0])]  # rules hold for the whole problem
    goals = [_with_free_hand(_in_turn(goal, observation), observation) for goal in goals]
    types = [(kind, _of(observation, kind)) for kind in (*_KINDS, "place")]
    types.append(("thing", _carrying(observation)))
    objects = "\n    ".join(f"{' '.join(names)} - {kind}" for kind, names in types if names)
    rules = sorted(_rules(goals[0]))  # become initial facts
    rules += [("waits", atom[2]) for atom in rules if atom[0] == "before"]
    if any(atom[0] == "across" for goal in goals for atom in goal):
        rules.append(("bridging",))
    ends = [sorted(atom for atom in goal if atom[0] not in RULES) for goal in goals]
    # What is to rest on a thing, and is seen to lean on it and on the table, takes up room there until then.
    aslant = {f.args[0] for f in observation.facts if f.predicate == "on" and f.args[1] == TABLE_SYMBOL}
    leaning = [[a for a in end if a[0] == "on" and a[2] != TABLE_SYMBOL and a[1] in aslant
                and observation.holds(*a)] for end in ends]  # fmt: skip
    conditions = [
        f"(and {' '.join([*map(_text, end), *(f'(not (on {a[1]} {TABLE_SYMBOL}))' for a in atoms)])})"
        for end, atoms in zip(ends, leaning, strict=True)
    ]
    for _, thing, base in sorted({atom for atoms in leaning for atom in atoms}):
        rules += [("blocks", thing, base), ("blocked", base)]
    atoms = dict.fromkeys([*initial(observation), *rules])
    held_back = {atom[2] for atom in atoms if atom[0] == "hems" and ("kept", atom[1]) in atoms}
    loose = {("loose", atom[2]): None for atom in atoms if atom[0] == "hems" and atom[2] not in held_back}
    init = "\n    ".join(map(_text, atoms | loose))
    goal = conditions[0] if len(conditions) == 1 else "(or\n    " + "\n    ".join(conditions) + ")"
    return f"""(define (problem task)
  (:domain tabletop)
  (:objects
    {objects})
  (:init
    (= (total-cost) 0)
    {init})
  (:goal {goal})
  (:metric minimize (total-cost)))
"""


def situation(observation: Observation) -> Draft:
    """See `Kit.situation`."""
    return Draft(domain=domain(), problem=problem(observation, [frozenset()]))


def with_places(observation: Observation, names: Iterable[str]) -> Observation:
    """Add those of the names that are places to the observation: what they are of, and what stands there."""
    places = {n: place for n in names if (place := place_of(n)) is not None and not place.relation.skill}
    if not places:
        return observation
    facts = [Fact(predicate="of", args=(n, thing)) for n, place in places.items() for thing in place.things]
    facts += [
        Fact(predicate="at", args=(o.id, name))
        for name, place in places.items()
        for o in observation.things
        if o.kind in SOLIDS
        and place.holds(o, observation.things)
        and observation.holds("on", o.id, TABLE_SYMBOL)
    ]
    # A point takes one thing: what stands there is in the way of another one.
    points = {name for name, place in places.items() if len(place.values) == 2 and not place.things}
    facts += [
        Fact(predicate="obstructs", args=f.args) for f in facts if f.predicate == "at" and f.args[1] in points
    ]
    return observation.model_copy(
        update={
            "objects": {**observation.objects, **dict.fromkeys(places, "place")},
            "facts": tuple(dict.fromkeys((*observation.facts, *facts))),
        }
    )


def _rules(goal: Goal) -> set[Atom]:
    return {atom for atom in goal if atom[0] in RULES}


def _in_turn(goal: Goal, observation: Observation) -> Goal:
    """Return the goal without the turns of what is seen to be where it belongs."""
    open_ = {atom[1] for atom in goal if atom[0] not in RULES and not observation.holds(*atom)}
    return frozenset(atom for atom in goal if atom[0] != "before" or atom[1] in open_)


def written(goals: Sequence[Goal]) -> tuple[str, ...]:
    """Return goals as the texts that a draft keeps."""
    return tuple(", ".join(" ".join(atom) for atom in sorted(goal)) for goal in goals)


def goals_of(draft: Draft) -> list[Goal]:
    """Return the goals that a draft keeps."""
    return [frozenset(tuple(atom.split()) for atom in goal.split(", ")) for goal in draft.goals]


def initial(observation: Observation) -> Iterator[Atom]:
    """Yield the atoms that are seen to hold, in the domain's terms."""
    cubes = _of(observation, *SOLIDS)
    held = [f.args[0] for f in observation.facts if f.predicate == "held" and f.args[0] in cubes]
    yield ("holding", held[0]) if held else ("hand_empty",)
    yield ("clear", TABLE_SYMBOL)
    yield from _supports(observation)
    yield from _unstable(observation)
    for fact in observation.facts:
        if (fact.predicate in OBSTRUCTIONS and fact.args[1] in observation.objects) or fact.predicate == "of":
            yield (fact.predicate, *fact.args)
    for hindered, word in OBSTRUCTIONS.items():
        found = {f.args[1] for f in observation.facts if f.predicate == hindered}
        yield from ((word, name) for name in sorted(found & observation.objects.keys()))
    yield from (("too_large", name) for name in sorted(too_large(observation)))
    within_reach = reachable(observation)
    seen = {"on", "clear", "at", *(row.name for row in relations() if row.skill)}
    pairs: set[Atom] = set()
    across = bridges(observation)
    bridging = {lying for lying, _, _ in across}
    for fact in observation.facts:
        if fact.args[0] not in within_reach:
            continue
        if fact.predicate in seen:
            yield (fact.predicate, *fact.args)
        elif fact.predicate == "next_to":
            a, b = fact.args
            pairs |= {("next_to", a, b), ("next_to", b, a)}
    yield from sorted(pairs)
    yield from sorted(("abreast", a, b) for a, b in abreast(observation))
    for lying, a, b in sorted(across):
        yield from (("across", lying, a, b), ("spanned", a, b))
    yield from sorted(("bridge", lying) for lying in bridging)
    burdens = _burdens(observation)
    free = (c for c in cubes if len(above := burdens.get(c, [])) < 2 and bridging.issuperset(above))
    yield from (("half_free", cube) for cube in free)


def abreast(observation: Observation) -> set[tuple[str, str]]:
    """Return pairs, in both orders, that stand side by side on the table or lie so on one solid."""
    known = set(_of(observation, *_KINDS))
    pairs = {f.args for f in observation.facts if f.predicate == "next_to"}
    pairs |= {pair for above in _burdens(observation).values() for pair in permutations(above, 2)}
    return {pair for one, other in pairs for pair in ((one, other), (other, one)) if known.issuperset(pair)}


def bridges(observation: Observation) -> set[tuple[str, str, str]]:
    """Return which solids lie across which two others, in both orders."""
    resting: dict[str, list[str]] = {}
    for below, above in _burdens(observation).items():
        for name in {*above}.intersection(_of(observation, *SOLIDS)):
            resting.setdefault(name, []).append(below)
    return {(name, *pair) for name, below in resting.items() for pair in permutations(below, 2)}


def _burdens(observation: Observation) -> dict[str, list[str]]:
    """Return the solids that carry something, each with what rests on it."""
    burdens: dict[str, list[str]] = {}
    for fact in observation.facts:
        if fact.predicate == "on" and observation.objects.get(fact.args[1]) in SOLIDS:
            burdens.setdefault(fact.args[1], []).append(fact.args[0])
    return burdens


def _carrying(observation: Observation) -> list[str]:
    """Return the things of no known kind that carry something."""
    carrying = {f.args[1] for f in observation.facts if f.predicate == "on"}
    return [s for s in _of(observation, UNKNOWN) if s in carrying]


def _supports(observation: Observation) -> Iterator[Atom]:
    """Yield which supports have room, for one thing or for more."""
    for support in _of(observation, *SUPPORTS):
        single = KINDS[observation.objects[support]].room == "one"
        if single:
            yield ("one_place", support)
        if not observation.holds("far", support) and (not single or observation.holds("clear", support)):
            yield ("clear", support)
        if observation.objects[support] in CONTAINERS and observation.holds("on", support, TABLE_SYMBOL):
            yield ("on", support, TABLE_SYMBOL)


def _unstable(observation: Observation) -> Iterator[Atom]:
    """Yield facts that nothing stays on a ball or a mug, and a ball only in containers and on the table."""
    for thing, own in ((s, kind) for s, kind in observation.objects.items() if kind in TOPLESS):
        for other, kind in sorted(observation.objects.items()):
            if kind in SOLIDS and other != thing:
                yield ("unfit", other, thing)
            if own in DOMED and kind in (*STACKABLE, *SUPPORTS) and kind not in CONTAINERS:
                yield ("unfit", thing, other)


def _with_free_hand(goal: Goal, observation: Observation) -> Goal:
    """Add to a goal that an object held at the start is put down, unless the task asks to hold something."""
    held = any(f.predicate == "held" for f in observation.facts)
    return goal | {("hand_empty",)} if held and not any(atom[0] == "holding" for atom in goal) else goal


def reachable(observation: Observation) -> set[str]:
    """Return the solids held or on the table, but for those that fell, hang in the air or lie too far."""
    lying = {f.args[0] for f in observation.facts if f.predicate == "on" and f.args[1] != GROUND_SYMBOL}
    held = {f.args[0] for f in observation.facts if f.predicate == "held"}
    return {c for c in _of(observation, *SOLIDS) if c in held | lying and not observation.holds("far", c)}


def too_large(observation: Observation) -> dict[str, float]:
    """Return the solids that do not fit between the fingers, with their width in metres."""
    widths = {thing.id: min(thing.size[:2]) for thing in observation.things}
    return {c: widths[c] for c in _of(observation, *SOLIDS) if widths.get(c, 0.0) > WIDEST}


def _within_reach(observation: Observation, goals: Sequence[Goal]) -> Sequence[Goal]:
    """Return the goals within the arm's reach; all, if nothing is too far. Raises Impossible if none is."""
    wide = too_large(observation)
    within_reach = reachable(observation) - set(wide)
    far = {fact.args[0] for fact in observation.facts if fact.predicate == "far"}
    left, lost = [], [""]
    for goal in goals:
        open_ = [atom for atom in goal if atom[0] not in RULES and not observation.holds(*atom)]
        first = {s for atom in open_ for s in atom[1:2]}
        needed = {s for atom in open_ for s in atom[1:] if s in first or s not in wide}
        needed &= {*_of(observation, *SOLIDS)}
        lost = sorted((needed - within_reach) | {s for atom in open_ for s in atom[1:] if s in far})
        if not lost:
            left.append(goal)
    if left:
        return left if far else goals
    if lost[0] in wide:
        width = f"{wide[lost[0]] * 100:.1f} cm wide, and the gripper takes {WIDEST * 100:.1f}"
        raise Impossible(f"The {words_of(lost[0])} is too large to be picked up: it is {width} cm.")
    where = "I cannot see what it rests on"
    if observation.holds("on", lost[0], GROUND_SYMBOL):
        where = "it lies on the ground"
    elif lost[0] in far:
        where = "it lies farther away than the arm reaches from above"
    raise Impossible(f"The {words_of(lost[0])} is out of reach: {where}.")


def _of(observation: Observation, *kinds: str) -> list[str]:
    return sorted(symbol for symbol, kind in observation.objects.items() if kind in kinds)


def _text(atom: Atom) -> str:
    return f"({' '.join(atom)})"
