"""Prior knowledge of Sense: object classes and the table, but no positions."""

from __future__ import annotations

from spca_core.errors import InputError
from spca_core.geometry import Vec3
from spca_core.model import Record
from spca_core.names import symbol_of, words_of
from spca_core.world import World


class Colour(Record):
    """A colour by name, and its prototype (red, green, blue in 0-1 under white light)."""

    name: str
    rgb: Vec3


class Catalogue(Record):
    """Nominal sizes in metres, colour prototypes, and the table the camera looks at.

    One size per kind: all cubes have the edge `cube_edge`, all plates are discs of `plate_diameter`.
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

    @classmethod
    def from_world(cls, world: World) -> Catalogue:
        """The classes in a world description. Positions, and how many there are of each, are left behind.

        Raises InputError when the world's cubes (or plates) differ in size, or a cube is not one.
        """
        cubes = [o for o in world.objects if o.kind == "cube"]
        plates = [o for o in world.objects if o.kind == "plate"]
        cube = _common_size([o.size for o in cubes], "cube", default=(0.04, 0.04, 0.04))
        plate = _common_size([o.size for o in plates], "plate", default=(0.11, 0.11, 0.008))
        if len({round(s, 6) for s in cube}) != 1:
            raise InputError(
                f"a cube of {cube} m", where=world.name, hint="Sense knows cubes with equal edges"
            )
        if abs(plate[0] - plate[1]) > 1e-6:
            raise InputError(f"a plate of {plate} m", where=world.name, hint="Sense knows round plates")
        return cls(
            cube_edge=cube[0],
            plate_diameter=plate[0],
            plate_thickness=plate[2],
            cube_colours=_colours([(o.model, o.colour) for o in cubes]),
            plate_colours=_colours([(o.model, o.colour) for o in plates]),
            table_top=world.table.top,
            table_colour=world.table.colour,
            table_centre=world.table.centre,
            table_size=world.table.size,
        )

    @property
    def colours(self) -> tuple[Colour, ...]:
        """Every colour of the catalogue once, in order of name."""
        by_name = {c.name: c for c in (*self.plate_colours, *self.cube_colours)}
        return tuple(by_name[name] for name in sorted(by_name))


def _common_size(sizes: list[Vec3], kind: str, default: Vec3) -> Vec3:
    different = {tuple(round(v, 6) for v in s) for s in sizes}
    if len(different) > 1:
        raise InputError(f"{kind}s of {len(different)} sizes", hint=f"Sense knows one size of {kind}")
    return sizes[0] if sizes else default


def _colours(models: list[tuple[str, Vec3]]) -> tuple[Colour, ...]:
    """Colour names are the first word of "red cube", "red 2 cube" and so on."""
    by_name = {words_of(symbol_of(model)).split()[0]: rgb for model, rgb in models}
    return tuple(Colour(name=name, rgb=by_name[name]) for name in sorted(by_name))
