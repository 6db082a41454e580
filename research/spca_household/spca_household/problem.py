"""A room as a PDDL problem of ALFWorld's domain."""

from __future__ import annotations

from collections.abc import Iterable

from spca_household.kinds import LAMP, OBJECTS, RECEPTACLES
from spca_household.room import Room, kind_of

_STARTS_AT = "entrance"
_TYPES = {"sinkbasin": "SinkBasinType", "microwave": "MicrowaveType", "fridge": "FridgeType"}
"""The receptacle types that the domain itself names."""
_TREATED = {"clean": "isClean", "heat": "isHot", "cool": "isCool"}
_ABLE = {"clean": "cleanable", "heat": "heatable", "cool": "coolable"}


def problem_of(room: Room) -> str:
    """The problem file. Every receptacle has a location of its own, named `at_` and the receptacle."""
    kinds = sorted({kind_of(r) for r in room.receptacles} | set(_TYPES))
    things = sorted({kind_of(o) for o in room.objects})
    objects = [
        "agent_1 - agent",
        f"{' '.join(['at_' + r for r in room.receptacles])} at_{_STARTS_AT} - location",
        f"{' '.join(room.receptacles)} - receptacle",
        f"{' '.join(room.objects)} - object",
        f"{' '.join(_rtype(k) for k in kinds)} - rtype",
        f"{' '.join(_otype(t) for t in things)} KnifeType ButterKnifeType - otype",
    ]
    if "knife" in things:
        objects[-1] = objects[-1].replace(" KnifeType", "", 1)
    lines = "\n  ".join([f"(atLocation agent_1 at_{_STARTS_AT})", "(= (total-cost) 0)", *_facts(room)])
    return (
        "(define (problem room) (:domain alfred)\n(:objects\n  " + "\n  ".join(objects) + ")\n"
        f"(:init\n  {lines})\n(:goal {_goal(room)})\n(:metric minimize (total-cost)))\n"
    )


def _facts(room: Room) -> Iterable[str]:
    for receptacle in room.receptacles:
        kind = kind_of(receptacle)
        yield f"(receptacleAtLocation {receptacle} at_{receptacle})"
        yield f"(receptacleType {receptacle} {_rtype(kind)})"
        if RECEPTACLES[kind].openable:
            yield f"(openable {receptacle})"
    things = sorted({kind_of(o) for o in room.objects} - {LAMP})
    for kind in sorted({kind_of(r) for r in room.receptacles}):
        for thing in things:
            if kind in OBJECTS[thing].places:
                yield f"(canContain {_rtype(kind)} {_otype(thing)})"
    for name, receptacle in room.objects.items():
        thing = kind_of(name)
        yield f"(objectType {name} {_otype(thing)})"
        yield f"(inReceptacle {name} {receptacle})"
        yield f"(objectAtLocation {name} at_{receptacle})"
        if thing == LAMP:
            yield f"(toggleable {name})"
            continue
        yield f"(pickupable {name})"
        for treatment in OBJECTS[thing].treatments:
            yield f"({_ABLE[treatment]} {name})"


def _goal(room: Room) -> str:
    of_kind = f"(objectType ?o {_otype(room.thing)})"
    if room.task == "examine":
        return (
            f"(exists (?o - object ?a - agent ?d - object ?l - location) (and {of_kind} (holds ?a ?o) "
            f"(objectType ?d {_otype(LAMP)}) (toggleable ?d) (isToggled ?d) "
            "(objectAtLocation ?d ?l) (atLocation ?a ?l)))"
        )
    there = f"(receptacleType ?r {_rtype(room.place)})"
    if room.task == "pick_two":
        second = of_kind.replace("?o", "?p")
        return (
            f"(exists (?o - object ?p - object ?r - receptacle) (and (not (= ?o ?p)) {of_kind} {second} "
            f"{there} (inReceptacle ?o ?r) (inReceptacle ?p ?r)))"
        )
    treated = f"({_TREATED[room.task]} ?o) " if room.task in _TREATED else ""
    return f"(exists (?o - object ?r - receptacle) (and {of_kind} {there} {treated}(inReceptacle ?o ?r)))"


def _rtype(kind: str) -> str:
    return _TYPES.get(kind, f"{kind.capitalize()}RType")


def _otype(kind: str) -> str:
    return f"{kind.capitalize()}Type"
