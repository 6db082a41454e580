"""Prior knowledge of Sense: object classes and the table, but no positions."""

from __future__ import annotations

from spca_core.geometry import Vec3
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
        ("red", (0.75, 0.10, 0.10)),
        ("orange", (0.85, 0.40, 0.05)),
        ("yellow", (0.80, 0.68, 0.08)),
        ("green", (0.10, 0.55, 0.16)),
        ("cyan", (0.05, 0.60, 0.65)),
        ("blue", (0.10, 0.22, 0.70)),
        ("purple", (0.42, 0.12, 0.62)),
        ("pink", (0.85, 0.25, 0.55)),
    )
)
"""The colours that things may have on a table where anything may lie, unless its world knows them better."""

_CUBE, _PLATE = (0.04, 0.04, 0.04), (0.11, 0.11, 0.008)


class Catalogue(Record):
    """Nominal sizes in metres, colour prototypes, and the table the camera looks at.

    Cubes of the edge `cube_edge` and plates of `plate_diameter` are known by their size, as far as there are
    any in `cube_colours` and `plate_colours`. On an `open` table there may be things of other kinds and
    sizes, in any colour of the `palette`; the sizes of its cuboids are known by colour, as `blocks`.
    """

    cube_edge: float
    plate_diameter: float
    plate_thickness: float
    cube_colours: tuple[Colour, ...]
    plate_colours: tuple[Colour, ...]
    table_top: float
    """Height of the table's surface in `world`, metres."""
    table_colour: Vec3
    table_centre: tuple[float, float]
    table_size: Vec3
    open: bool = False
    palette: tuple[Colour, ...] = PALETTE
    blocks: tuple[tuple[str, Vec3], ...] = ()

    @classmethod
    def from_world(cls, world: World) -> Catalogue:
        """The classes in a world description. Positions, and how many there are of each, are left behind."""
        cubes = [o for o in world.objects if o.kind == "cube"]
        plates = [o for o in world.objects if o.kind == "plate"]
        cube = _commonest([o.size for o in cubes], _CUBE)
        plate = _commonest([o.size for o in plates], _PLATE)
        known = {("cube", cube), ("plate", plate)}
        open_ = any((o.kind, o.size) not in known for o in world.objects if o.kind != "sign")
        plates = plates if len({o.size for o in plates}) == 1 else []
        palette = tuple({c.name: c for c in (*PALETTE, *_colours(world.objects))}.values())
        return cls(
            cube_edge=cube[0],
            plate_diameter=plate[0],
            plate_thickness=plate[2],
            cube_colours=palette if open_ and cubes else _colours(cubes),
            plate_colours=palette if open_ and plates else _colours(plates),
            table_top=world.table.top,
            table_colour=world.table.colour,
            table_centre=world.table.centre,
            table_size=world.table.size,
            open=open_,
            palette=palette,
            blocks=tuple(sorted({(_colour(o), o.size) for o in world.objects if o.kind == "cuboid"})),
        )

    @property
    def colours(self) -> tuple[Colour, ...]:
        """Every colour of the catalogue once, in order of name."""
        known = self.palette if self.open else (*self.plate_colours, *self.cube_colours)
        by_name = {c.name: c for c in known}
        return tuple(by_name[name] for name in sorted(by_name))

    def blocks_of(self, colour: str) -> tuple[Vec3, ...]:
        """The sizes of the cuboids of a colour."""
        return tuple(size for name, size in self.blocks if name == colour)


def _commonest(sizes: list[Vec3], default: Vec3) -> Vec3:
    return max(sizes, key=sizes.count, default=default)


def _colours(things: list[WorldObject] | tuple[WorldObject, ...]) -> tuple[Colour, ...]:
    """The colours of things as the world describes them."""
    by_name = {_colour(o): o.colour for o in things if o.kind != "sign"}
    return tuple(Colour(name=name, rgb=by_name[name]) for name in sorted(by_name))


def _colour(thing: WorldObject) -> str:
    """Its colour's name, the first word of "red cube", "red 2 cube" and so on."""
    return words_of(symbol_of(thing.model)).split()[0]
