"""Tables made by hand, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spca_core.observation import Observation
from spca_core.scene import Fact
from spca_core.task import Task

CUBES = ("cube_green", "cube_blue", "cube_red")
PLATES = ("plate_green", "plate_blue", "plate_red")
SYMBOLS = {"R": "cube_red", "G": "cube_green", "B": "cube_blue", "T": "table"} | {
    "pR": "plate_red",
    "pG": "plate_green",
    "pB": "plate_blue",
}


def scene(
    on: Mapping[str, str] | None = None,
    held: str = "",
    row: Sequence[str] = CUBES,
    depth: Sequence[str] = ("cube_blue", "cube_green", "cube_red"),
    beside: Sequence[tuple[str, str]] = (),
    objects: Sequence[str] = (*CUBES, *PLATES),
) -> Observation:
    """A table.

    `on`: what cubes rest on, by symbol (else the table); `row`: from left to right; `depth`: near to far.
    """
    cubes = [o for o in objects if o.startswith("cube")]
    plates = [o for o in objects if o.startswith("plate")]
    below = {c: (on or {}).get(c, "table") for c in cubes if c != held}
    facts = [Fact(predicate="on", args=pair) for pair in below.items()]
    facts += [Fact(predicate="on", args=(p, "table")) for p in plates]
    facts += [Fact(predicate="clear", args=(x,)) for x in (*cubes, *plates) if x not in below.values()]
    facts += [Fact(predicate="held", args=(held,))] if held else []
    facts += [Fact(predicate="next_to", args=pair) for pair in beside]
    for kind, things in (("cube", [c for c in row if c in cubes]), ("plate", plates)):
        near = [c for c in depth if c in cubes] if kind == "cube" else plates
        if len(things) > 1:
            sides = {"leftmost": things[0], "rightmost": things[-1], "nearest": near[0], "farthest": near[-1]}
            sides |= {"middle": things[1]} if len(things) == 3 else {}
            facts += [Fact(predicate=side, args=(thing,)) for side, thing in sides.items()]
    kinds = {o: o.split("_")[0] for o in (*cubes, *plates)} | {"table": "table"}
    kinds |= {"ground": "ground"} if "ground" in below.values() else {}
    return Observation(stamp=0.0, objects=kinds, facts=tuple(facts), sentences=())


def task(description: str, title: str = "", group: str = "test") -> Task:
    """A task with that text."""
    return Task(group=group, id="test_01", title=title, description=description)


def goals(text: str) -> set[frozenset[tuple[str, ...]]]:
    """Goals from a short form: `on R B, on B T | on B R, on R T`."""
    return {frozenset(_atom(words) for words in goal.split(",")) for goal in text.split("|")}


def _atom(text: str) -> tuple[str, ...]:
    predicate, *names = text.split()
    return (predicate, *(SYMBOLS[n] for n in names))
