"""Prior knowledge of Sense: object classes and the table, but no positions."""

from __future__ import annotations

import numpy as np

from spca_core.geometry import Array, Vec3
from spca_core.kinds import KINDS
from spca_core.model import Record
from spca_core.names import symbol_of, words_of
from spca_core.world import World, WorldObject


class Colour(Record):
    """A colour by name, and its prototype (red, green, blue in 0-1 under white light)."""

    name: str
    rgb: Vec3


_RGB = {
    "blue": (0.10, 0.22, 0.70), "cyan": (0.05, 0.60, 0.65), "green": (0.10, 0.55, 0.16),
    "orange": (0.85, 0.40, 0.05), "pink": (0.85, 0.25, 0.55), "purple": (0.42, 0.12, 0.62),
    "red": (0.75, 0.10, 0.10), "yellow": (0.80, 0.68, 0.08),
}  # fmt: skip
PALETTE = tuple(Colour(name=name, rgb=rgb) for name, rgb in _RGB.items())
"""Colours that things may have, in order of name, unless their world knows them better."""
COLOUR_WORDS = (
    *(colour.name for colour in PALETTE),
    *("white", "black", "brown", "grey", "gray", "violet", "magenta", "turquoise"),
)

_CUBE = (0.04, 0.04, 0.04)
_ALIKE = 0.5  # cosine between hues of one name
_PALE = 0.05  # away from grey: what is nearer has no colour


class Catalogue(Record):
    """The table the camera looks at, and sizes in metres that are known beforehand.

    There may be things of any kind and size on the table, in any colour of the `palette`. Likely are cubes of
    the edge `cube_edge`, if the world has `cubes`, and its `plates`, in any colour, and what else it has
    (`others`) in its own.
    """

    cube_edge: float
    cubes: bool
    plates: tuple[Vec3, ...]
    table_top: float
    """Height of the table's surface in `world`, metres."""
    table_colour: Vec3
    palette: tuple[Colour, ...] = PALETTE
    """Colours that things may have, in order of name."""
    others: tuple[tuple[str, str, Vec3], ...] = ()
    """Colour, kind and size of each other likely thing."""

    @property
    def usual(self) -> list[tuple[str, Vec3]]:
        """Kind and size of the world's cubes, if it has any."""
        return [("cube", (self.cube_edge,) * 3)] if self.cubes else []

    def likely(self, colour: str) -> list[tuple[str, Vec3]]:
        """Return the kinds and sizes of things that are likely to have a colour."""
        others = [(kind, size) for its, kind, size in self.others if its == colour]
        return [*self.usual, *(("plate", size) for size in self.plates), *others]

    @classmethod
    def from_world(cls, world: World) -> Catalogue:
        """Return the classes in a world description, without positions and without numbers of things."""
        sizes = [o.size for o in world.objects if KINDS[o.kind].cubic]
        usual = max(sizes, key=sizes.count, default=_CUBE)
        rows = [(o, KINDS[o.kind]) for o in world.objects]
        others = {
            (_colour(o) or "", str(o.kind), o.size)
            for o, its in rows
            if not (its.walled or its.mesh or its.spacious or its.printed or (its.cubic and o.size == usual))
        }
        known = {_colour(o): o.colour for o in world.objects if not KINDS[o.kind].printed}
        colours = _RGB | {name: rgb for name, rgb in known.items() if name is not None}
        return cls(
            cube_edge=usual[0], cubes=bool(sizes),
            plates=tuple(sorted({o.size for o in world.objects if KINDS[o.kind].spacious})),
            table_top=world.table.top, table_colour=world.table.colour,
            palette=tuple(Colour(name=name, rgb=rgb) for name, rgb in sorted(colours.items())),
            others=tuple(sorted(others)),
        )  # fmt: skip


def _colour(thing: WorldObject) -> str | None:
    """Return the colour that a thing's name says ("red cube"), else the palette's nearest; None for grey."""
    word = words_of(symbol_of(thing.model)).split()[0]
    if word in COLOUR_WORDS:
        return word
    likeness = np.array([_hue(colour.rgb) for colour in PALETTE]) @ _hue(thing.colour)
    return PALETTE[int(likeness.argmax())].name if likeness.max() > _ALIKE else None


def _hue(rgb: Vec3) -> Array:
    """Return the direction (3,) in which a colour is away from grey, no longer than 1."""
    away = np.array(rgb) - np.mean(rgb)
    return away / max(float(np.linalg.norm(away)), _PALE)
