"""Prior knowledge of Sense: object classes and the table, but no positions."""

from __future__ import annotations

from collections.abc import Sequence

from spca_core.geometry import Vec3
from spca_core.kinds import KINDS
from spca_core.model import Record
from spca_core.names import symbol_of, words_of
from spca_core.world import World, WorldObject


class Colour(Record):
    """A colour by name, and its prototype (red, green, blue in 0-1 under white light)."""

    name: str
    rgb: Vec3


PALETTE = tuple(
    Colour(name=name, rgb=rgb)
    for name, rgb in (
        ("blue", (0.10, 0.22, 0.70)),
        ("cyan", (0.05, 0.60, 0.65)),
        ("green", (0.10, 0.55, 0.16)),
        ("orange", (0.85, 0.40, 0.05)),
        ("pink", (0.85, 0.25, 0.55)),
        ("purple", (0.42, 0.12, 0.62)),
        ("red", (0.75, 0.10, 0.10)),
        ("yellow", (0.80, 0.68, 0.08)),
    )
)
"""The colours that things may have, in order of name, unless their world knows them better."""

_CUBE = (0.04, 0.04, 0.04)


class Catalogue(Record):
    """The table the camera looks at, and sizes in metres that are known beforehand.

    There may be things of any kind and size on the table, in any colour of the `palette`. If the world has
    `cubes`, those of the edge `cube_edge` are looked for first; the sizes of its `plates` are likely, and
    those of its other solids are known by colour, as `blocks`.
    """

    cube_edge: float
    cubes: bool
    plates: tuple[Vec3, ...]
    table_top: float
    """Height of the table's surface in `world`, metres."""
    table_colour: Vec3
    table_centre: tuple[float, float]
    table_size: Vec3
    palette: tuple[Colour, ...] = PALETTE
    """In order of name."""
    blocks: tuple[tuple[str, Vec3], ...] = ()

    @classmethod
    def from_world(cls, world: World) -> Catalogue:
        """The classes in a world description. Positions, and how many there are of each, are left behind."""
        sizes = [o.size for o in world.objects if o.kind == "cube"]
        usual = max(sizes, key=sizes.count, default=_CUBE)
        blocks = [o for o in world.objects if KINDS[o.kind].solid and o.size != usual]
        return cls(
            cube_edge=usual[0],
            cubes=bool(sizes),
            plates=tuple(sorted({o.size for o in world.objects if o.kind == "plate"})),
            table_top=world.table.top,
            table_colour=world.table.colour,
            table_centre=world.table.centre,
            table_size=world.table.size,
            palette=_palette(world.objects),
            blocks=tuple(sorted({(_colour(o), o.size) for o in blocks})),
        )


def _palette(things: Sequence[WorldObject]) -> tuple[Colour, ...]:
    """The colours of the palette, and those of the world's things as it describes them."""
    described = {_colour(o): o.colour for o in things if o.kind != "sign"}
    by_name = {c.name: c.rgb for c in PALETTE} | described
    return tuple(Colour(name=name, rgb=by_name[name]) for name in sorted(by_name))


def _colour(thing: WorldObject) -> str:
    """Its colour's name, the first word of "red cube", "red 2 cube" and so on."""
    return words_of(symbol_of(thing.model)).split()[0]
