"""Observations of tables made by hand, and short forms of goals on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spca_core.geometry import Pose, Vec3
from spca_core.plan import Draft, Plan, Step, Task
from spca_core.scene import Fact, Observation, Scene, SceneObject

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
    seen = tuple(_thing(o, row, depth, below) for o in (*cubes, *plates))
    return Observation(
        stamp=0.0, objects=kinds, facts=tuple(facts), sentences=(),
        scene=Scene(stamp=0.0, objects=seen, relations=tuple(facts), sentences=()),
    )  # fmt: skip


def thing(symbol: str, pose: Pose, size: Vec3 = (0.04, 0.04, 0.04), **more: object) -> SceneObject:
    """A thing, in full sight, of the kind and colour that its symbol names."""
    kind, _, rest = symbol.partition("_")
    values = {"id": symbol, "kind": kind, "colour": rest.partition("_")[0] or "unknown", "confidence": 1.0}
    return SceneObject.model_validate({**values, "pose": pose, "size": size, **more})


def _thing(symbol: str, row: Sequence[str], depth: Sequence[str], below: Mapping[str, str]) -> SceneObject:
    """A thing at its place in the row, things on others where those are."""
    x, y, z = 0.62, 0.1 * (1 - PLATES.index(symbol)) if symbol in PLATES else 0.0, 0.405
    if symbol not in PLATES:
        under = below.get(symbol, "table")
        at = under if under.startswith("cube") else symbol
        x, y = 0.4 + 0.05 * _rank(at, depth), 0.15 * (1 - _rank(at, row))
        z = 0.46 if under.startswith("cube") else 0.42
    size = (0.12, 0.12, 0.01) if symbol in PLATES else (0.04, 0.04, 0.04)
    return thing(symbol, Pose(position=(x, y, z)), size)


def _rank(symbol: str, order: Sequence[str]) -> int:
    return order.index(symbol) if symbol in order else 0


def task(description: str, title: str = "", group: str = "test") -> Task:
    """A task with that text."""
    return Task(group=group, id="test_01", title=title, description=description)


def plan_of(*steps: str, draft: Draft = Draft(domain="", problem="")) -> Plan:  # noqa: B008 (immutable)
    """A plan of these steps: `pick_up cube_red table`."""
    made = tuple(Step(action=action, args=tuple(args)) for action, *args in map(str.split, steps))
    return Plan(steps=made, schemas=(), draft=draft)


def goals(text: str) -> set[frozenset[tuple[str, ...]]]:
    """Goals from a short form: `on R B, on B T | on B R, on R T`."""
    return {frozenset(_atom(words) for words in goal.split(",")) for goal in text.split("|")}


def _atom(text: str) -> tuple[str, ...]:
    predicate, *names = text.split()
    return (predicate, *("__".join(SYMBOLS.get(part, part) for part in n.split("__")) for n in names))
