"""Relations that a thing on the table can have to others: a row for each, in a file of its own.

A row says how a relation is said, when it holds, and where a thing is put for it to hold; language, planning,
placing and judging know relations by their rows alone. The project's own are in `spca_core/relations/`, each
file with its `ROWS`; an installed package adds one by an entry `NAME` of the group `spca.relations`, which
is a `Relation`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from spca_core.errors import InputError
from spca_core.extensions import installed
from spca_core.geometry import Pose, Vec3
from spca_core.names import words_of

if TYPE_CHECKING:
    from spca_core.scene import SceneObject
    from spca_core.skill_package import SkillPackage
    from spca_core.world import World

GROUP = "spca.relations"
BORDER = 0.05
"""Distance in metres beyond the work area at which a thing may be put, beside one at the area's border."""

Values = tuple[int, ...]
"""Numbers of a place, in whole millimetres and degrees."""
Spot = tuple[float, float, float | None]
"""Target of a thing's middle: x, y (metres in `world`), and its yaw in radians, or None for any."""


@dataclass(frozen=True)
class Relation:
    """How things can be to one another on the table: said, seen, planned, placed and told."""

    name: str
    spots: Callable[[SceneObject, Sequence[SceneObject], Values, World], Iterator[Spot]] = lambda *_: iter(())
    """Generator of places for a thing to be in the relation, best first, whether there is room or not."""
    example: str = ""
    """Example of a place's name, of things X and Y, for whoever writes PDDL or a skill."""
    holds: Callable[[SceneObject, Sequence[SceneObject], Values], bool] = lambda thing, others, values: False
    """Test of whether a thing is in the relation to all the others."""
    things: range = range(1)
    """Possible counts of the things that a place is related to."""
    numbers: range = range(1)
    """Possible counts of the numbers that a place has."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Patterns of the relation's words in task texts, by token; see `spca_tabletop.language.lexicon`."""
    forms: tuple[str, ...] = ()
    """Forms of a place in the grammar of task texts: its tokens, with Things, Thing or numbers."""
    gives_way: bool = False
    """The forms mean another relation wherever they can, as "next to" is touching for what can be touched."""
    orders: tuple[str, ...] = ()
    """Forms of a whole clause about the things that are to come into the relation."""
    bans: tuple[str, ...] = ()
    """Forms of a clause about the things that must not come into the relation."""
    reads: Mapping[str, Callable[[str], Values]] = field(default_factory=dict)
    """Readers of numbers from the words of the relation's own tokens, by token."""
    fixed: Callable[[SceneObject, Values], Values] = lambda thing, values: values
    """Function from a thing, as it stands when the text is understood, to the place's numbers."""
    ahead: Callable[[Vec3, Vec3], float] | None = None
    """Metres that one point is that way from another, where things are told so: "the cube left of it"."""
    told: Callable[[Sequence[str], Values], str] | None = None
    """Function from the words for the place's things to the words for the place."""
    # --- of one with a predicate, an action and a skill of its own; the others are places for `place_at`
    skill: SkillPackage | None = None
    meaning: str = ""
    """Meaning of the predicate for ?a and ?b, where Sense can say it."""
    names: tuple[str, ...] = ()
    """Other names that a model's PDDL may give the relation."""
    of: tuple[str, ...] = ()
    """Kinds of things to which another can be in the relation."""
    put: str = ""
    """Predicate by which a thing is put into the relation, where that is another relation's."""
    rests: str = ""
    """Second support of a thing in the relation: the table, on which it leans then, or the ground."""


@dataclass(frozen=True)
class Place:
    """A relation to certain things, with certain numbers. Planners know it by its `symbol`."""

    relation: Relation
    things: tuple[str, ...] = ()
    values: Values = ()

    @property
    def symbol(self) -> str:
        """Name of the place in a planning problem, such as `left_of__cube_green` or `at__450__m50`."""
        numbers = (f"m{-value}" if value < 0 else str(value) for value in self.values)
        return "__".join((self.relation.name, *self.things, *numbers))

    @property
    def words(self) -> str:
        """The place in plain words: "left of the green cube"."""
        things = [f"the {words_of(thing)}" for thing in self.things]
        if self.relation.told is not None:
            return self.relation.told(things, self.values)
        return f"{self.relation.name.replace('_', ' ')} {' and '.join(things)}".strip()

    def holds(self, thing: SceneObject, objects: Sequence[SceneObject]) -> bool:
        """Return whether a thing is there, by the poses of all `objects`; False where one is not seen."""
        others = self._others(objects)
        if others is None or thing.id in self.things:
            return False
        return self.relation.holds(thing, others, self.values)

    def spots(self, thing: SceneObject, objects: Sequence[SceneObject], world: World) -> Iterator[Spot]:
        """Yield the place's spots for a thing, best first, near the work area; none if a thing is unseen."""
        others = self._others(objects)
        for x, y, yaw in () if others is None else self.relation.spots(thing, others, self.values, world):
            turn = thing.pose.yaw if yaw is None else yaw
            there = Pose.from_xyz_yaw(x, y, thing.pose.position[2], turn)
            near = world.work_area.contains(x, y, beyond=BORDER)
            if near and self.holds(thing.model_copy(update={"pose": there}), objects):
                yield x, y, yaw

    def _others(self, objects: Sequence[SceneObject]) -> list[SceneObject] | None:
        found = {o.id: o for o in objects}
        return [found[name] for name in self.things] if found.keys() >= {*self.things} else None


def relations() -> tuple[Relation, ...]:
    """Return all relations, the project's own first. Raises InputError for a broken one of a package."""
    return tuple(_relations().values())


@lru_cache(maxsize=1)
def _relations() -> dict[str, Relation]:
    found = sorted(module.name for module in iter_modules([str(Path(__file__).parent / "relations")]))
    modules = [import_module(f"spca_core.relations.{name}") for name in found]
    rows: list[Relation] = [row for module in modules for row in module.ROWS]
    for name, plugin in installed(GROUP).items():
        row = plugin.load()
        if not isinstance(row, Relation) or row.name != name or any(r.name == name for r in rows):
            raise InputError(
                f"relation '{name}' of {plugin.package} is no new relation of that name",
                where=plugin.target,
                hint="a spca_core.relation.Relation",
            )
        rows.append(row)
    return {row.name: row for row in rows}


def place_of(symbol: str) -> Place | None:
    """Return the place that a symbol names; None if it names something else.

    >>> place_of("left_of__cube_green").things, place_of("at__450__m50").values, place_of("cube_red")
    (('cube_green',), (450, -50), None)
    """
    name, *parts = symbol.lower().split("__")
    if (relation := _relations().get(name)) is None:
        return None
    things = tuple(part for part in parts if not re.fullmatch(r"m?\d+", part))
    numbers = parts[len(things) :]
    if len(things) not in relation.things or len(numbers) not in relation.numbers or {*things} & {*numbers}:
        return None
    return Place(relation, things, tuple(int(number.replace("m", "-")) for number in numbers))


def in_words(text: str) -> str:
    """Return a text with the places in words that it names by their symbols."""
    return re.sub(r"\b[a-z_]+(?:__\w+)+", lambda said: p.words if (p := place_of(said[0])) else said[0], text)


def resting(support: str) -> str:
    """Return where a thing is that rests on a support, in plain words: "in the blue bowl"."""
    rows = [row for row in relations() if row.put == "on" and support.partition("_")[0] in row.of]
    return Place(rows[0], (support,)).words if rows else f"on the {words_of(support)}"


def things_of(symbol: str) -> tuple[str, ...]:
    """Return the things that a symbol stands for: those of a place, or the one of that name."""
    place = place_of(symbol)
    return (symbol,) if place is None else place.things
