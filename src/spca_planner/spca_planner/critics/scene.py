"""The scene critic: a problem must be about the objects and the state that were observed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from spca_core.observation import Observation
from spca_core.ports.vocabulary import Extension
from spca_planner.pddl.formula import Atom, Truth, ground
from spca_planner.pddl.limits import MOST_FAULTS
from spca_planner.pddl.syntax import Domain, Problem

_MOST_NAMED = 3
"""Facts named in one message; more would bury the point."""


def contradictions(
    domain: Domain, problem: Problem, observation: Observation, extensions: Mapping[str, Extension]
) -> list[str]:
    """Every way in which a problem contradicts the observation, one sentence each."""
    return [
        *islice(_unknown_objects(domain, problem, observation), MOST_FAULTS),
        *_wrong_init(domain, problem, observation, extensions),
    ]


def observed_truth(observation: Observation, extensions: Mapping[str, Extension], atom: Atom) -> Truth:
    """Return whether the observation shows an atom; None where it has nothing to say."""
    extension = extensions.get(atom[0])
    return None if extension is None else extension.truth(atom[1:], observation.objects)


def _unknown_objects(domain: Domain, problem: Problem, observation: Observation) -> Iterator[str]:
    kinds = {kind.lower() for kind in observation.objects.values()}
    for thing in (*domain.constants, *problem.objects):
        kind = observation.objects.get(thing.name)
        if kind is None:
            near = _near(thing.name, list(observation.objects))
            hint = f"did you mean '{near}'?" if near else f"there are: {', '.join(observation.objects)}"
            yield f"object '{thing.name}' is not in the scene; {hint}"
        elif thing.type in kinds and thing.type != kind.lower():
            yield f"'{thing.name}' is declared as a {thing.type}, but the scene shows a {kind}"


def _near(name: str, known: Sequence[str]) -> str:
    """A name of the same words in another order, or of nearly the same letters."""
    same = [k for k in known if sorted(k.lower().split("_")) == sorted(name.split("_"))]
    return next(iter(same or difflib.get_close_matches(name, known, n=1)), "")


def _wrong_init(
    domain: Domain, problem: Problem, observation: Observation, extensions: Mapping[str, Extension]
) -> Iterator[str]:
    types = {o.name: o.type for o in (*domain.constants, *problem.objects)}
    stated = {ground(fact, {}) for fact in problem.init if fact.head not in ("=", "not")}
    false = [a for a in sorted(stated) if observed_truth(observation, extensions, a) is False]
    if false:
        yield (
            f"(:init …) states {_listed(false)}, which the scene does not "
            f"show{_instead(false[0], extensions)}"
        )
    shown = (
        (name, *args)
        for name in domain.predicates
        for args in sorted(extensions[name].atoms if name in extensions else ())
    )
    missing = [atom for atom in shown if domain.says(atom, types) and atom not in stated]
    if missing:
        yield f"(:init …) lacks {_listed(missing)}, which the scene shows"


def _instead(atom: Atom, extensions: Mapping[str, Extension]) -> str:
    """Return what the scene shows about the same thing."""
    same = [(atom[0], *args) for args in extensions[atom[0]].atoms if args and args[:1] == atom[1:2]]
    return f"; it shows {_listed(sorted(same))}" if same else ""


def _listed(atoms: list[Atom]) -> str:
    shown = ", ".join(f"({' '.join(a)})" for a in atoms[:_MOST_NAMED])
    return shown + (f" and {len(atoms) - _MOST_NAMED} more" if len(atoms) > _MOST_NAMED else "")
