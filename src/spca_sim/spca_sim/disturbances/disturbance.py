"""Disturbances of a level, and how they are drawn by seed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, get_args

import numpy as np

from spca_core.model import Record

Kind = Literal[
    "push", "turn", "pull_out", "target", "remove", "add", "hand", "freeze", "drop", "knock", "encoder",
    "friction", "dim",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)

ABOUT: dict[Kind, str] = {
    "push": "a cube is pushed aside while the arm moves",
    "turn": "a cube is turned while the arm moves",
    "pull_out": "the held cube is pulled out of the gripper and put on the table",
    "target": "a plate or cube is moved while the gripper carries another object",
    "remove": "an object is taken away; one that the task needs comes back elsewhere",
    "add": "an object that was not there is put on the table",
    "hand": "a hand hides part of the table for seconds",
    "freeze": "the camera repeats its last frame for seconds",
    "drop": "the camera loses most frames for seconds",
    "knock": "the camera is knocked by millimetres and by about a degree",
    "encoder": "a joint's encoder gets an offset",
    "friction": "objects and pads become more slippery, or less",
    "dim": "the light goes down",
}

_FROM, _FIRST_BY, _LAST_BY = 0.3, 3.5, 8.0
"""Simulated seconds: the earliest and the latest for a level's first disturbance; the latest for others."""
_MOVING: tuple[Kind, ...] = ("push", "turn", "target", "remove", "add")
_ONTO_TABLE: tuple[Kind, ...] = ("push", "pull_out", "target", "remove", "add")
"""Kinds that leave an object somewhere else on the table."""
_MOVING_FROM = 1.8
"""Simulated seconds from which objects are moved, when the robot has had a look.

What the task's words refer to ("the left cube") is decided by the table as it was at the beginning.
"""


class Disturbance(Record):
    """One disturbance: due `at` simulated seconds, it happens as soon as its occasion arises.

    `seed` draws its particulars when it happens. `names` are the objects it may concern (model names),
    and `spare` those among them that the task does not need.
    """

    kind: Kind
    at: float
    seed: int
    names: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()


class Happened(Record):
    """A disturbance that has happened, for the report: ground truth.

    `position` is where it can be seen, in `world`; None for what concerns the whole table.
    """

    kind: Kind
    stamp: float
    text: str
    position: tuple[float, float, float] | None = None


def draw_disturbances(
    seed: int, needed: Sequence[str], spare: Sequence[str], kind: Kind | None = None,
    off_table: Collection[str] = (),
) -> tuple[Disturbance, ...]:  # fmt: skip
    """Draw one to three disturbances of different kinds, or a single one of `kind`.

    `needed` and `spare` are the model names of the level's objects that its task needs and does not need.
    None puts on the table what is in `off_table`, or takes away the place that it is about to be put on:
    the level would be lost through no fault of the robot.
    """
    rng = np.random.default_rng([seed, 0xD157])
    names = (*needed, *spare)
    movable = tuple(n for n in names if n not in off_table)
    unused = tuple(n for n in spare if n not in off_table)
    possible = [k for k in KINDS if k not in _ONTO_TABLE or (unused if k == "add" else movable)]
    possible = [k for k in possible if not (off_table and k in ("target", "remove"))]
    if kind is None:
        chosen = [possible[i] for i in rng.choice(len(possible), int(rng.integers(1, 4)), replace=False)]
    else:
        chosen = [kind] if kind in possible else []
    return tuple(
        Disturbance(
            kind=one,
            at=round(
                float(rng.uniform(_MOVING_FROM if one in _MOVING else _FROM, _LAST_BY if i else _FIRST_BY)), 2
            ),
            seed=int(rng.integers(2**31)),
            names=movable if one in _ONTO_TABLE else names,
            spare=unused,
        )
        for i, one in enumerate(chosen)
    )
