"""The frame rule: what a step does not mention stays where it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from spca_core.evidence import SideEffect
from spca_core.observation import Observation
from spca_core.plan import Step
from spca_planner.pddl.formula import Atom

FRAME_M = 0.01
"""Metres that a thing may move in a step that does not mention it."""
NUDGED_M = 0.03
"""The same for what a step mentions only as a place, such as what something is put into."""
_ERROR_M = 0.01
"""What the error of a camera may add between two looks."""


def mentioned(step: Step, effects: Mapping[Atom, bool]) -> set[str]:
    """The things that a step is about, in lower case: its arguments, and those of its effects."""
    return {arg.lower() for arg in step.args} | {arg for atom in effects for arg in atom[1:]}


def allowance(thing: str, step: Step, effects: Mapping[Atom, bool]) -> float:
    """How far, in metres, a step may move a thing.

    What comes to be somewhere else is the first argument of an effect, but for one that says that something
    is clear; without any effect, every argument is. Another thing that is mentioned may be nudged.
    """
    name = thing.lower()
    if name not in mentioned(step, effects):
        return FRAME_M
    moving = {atom[1] for atom in effects if len(atom) > 1 and atom[0] != "clear"}
    return math.inf if name in moving or not moving else NUDGED_M


def disturbances(
    steps: Sequence[Step],
    effects: Sequence[Mapping[Atom, bool]],
    looks: Sequence[Observation | None],
) -> tuple[SideEffect, ...]:
    """What moved between two looks although no step between them is about it.

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
            allowed = max(allowance(thing, steps[i], effects[i]) for i in between)
            if metres > allowed + _ERROR_M:
                found.append(SideEffect(steps=tuple(between), sentence=moved(thing, metres)))
        since, before = index + 1, now
    return tuple(found)


def moved(thing: str, metres: float) -> str:
    """How far a thing moved that no step is to move."""
    return f"{thing} moves by {metres * 100:.0f} cm, and the step is not about that"
