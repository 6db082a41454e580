"""The kinds of things on a table, a row for each: their shape, what they are for, what they are called.

An installed package adds a row by an entry `NAME` of the group `spca.kinds`, which is the folder (a `Path`)
with `NAME.yaml`: a `KindFile`. Things are made of convex parts, and so are meshes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from spca_core.errors import InputError, did_you_mean
from spca_core.extensions import find, installed
from spca_core.geometry import Array, Pose, Vec3
from spca_core.model import Part
from spca_core.validation import expecting, plain, read_yaml

_LEAST, _MOST, _OFF = 0.005, 0.5, 0.0005  # metres
_THIN = 1e-10  # m³


@dataclass(frozen=True)
class Primitive:
    """A convex part of a thing: full extents `size`, place `at` in the thing's frame (metres), `yaw` (rad).

    A cylinder stands on its axis; it and a sphere have their diameter in size[0]. A hull has `corners` around
    `at`, and `faces` between them, three corners each, counter-clockwise from outside.
    """

    shape: Literal["box", "cylinder", "sphere", "hull"]
    size: Vec3
    at: Vec3 = (0.0, 0.0, 0.0)
    yaw: float = 0.0
    corners: tuple[Vec3, ...] = ()
    faces: tuple[tuple[int, int, int], ...] = ()

    @property
    def volume(self) -> float:
        """Volume of the part in cubic metres."""
        a, b, c = self.size
        if self.shape == "hull":
            return float(np.linalg.det(np.array(self.corners)[np.array(self.faces)]).sum()) / 6
        volumes = {"box": a * b * c, "cylinder": math.pi / 4 * a * a * c, "sphere": math.pi / 6 * a**3}
        return volumes[self.shape]


class SampledGrasp(Part):
    """Two opposite faces of a mesh between which the pads close from above.

    The tool centre point is `at` in the mesh's frame (metres), its x axis turned by `yaw` (rad); the pads end
    up `width` apart. With a gap of up to `room` the open fingers come down beside the mesh.
    """

    at: Vec3
    yaw: float
    width: float = Field(gt=0)
    room: float = Field(gt=0)


class Mesh(Part):
    """A shape as convex parts: the corners of each, around the middle of the `size` of all (metres, z up)."""

    size: Vec3
    parts: tuple[tuple[Vec3, ...], ...] = Field(min_length=1)
    grasps: tuple[SampledGrasp, ...] = ()
    """Grasps of the mesh, the best first."""

    @model_validator(mode="after")
    def _solid(self) -> Mesh:
        if not all(_LEAST <= edge <= _MOST for edge in self.size):
            raise ValueError(f"size: a thing on a table measures {_LEAST} to {_MOST} m each way")
        corners = np.array([corner for part in self.parts for corner in part])
        if abs(np.array([-corners.min(axis=0), corners.max(axis=0)]) - np.array(self.size) / 2).max() > _OFF:
            raise ValueError("parts: their corners do not lie around the middle of the size")
        if not all(part.volume > _THIN for part in self.primitives):
            raise ValueError("parts: one of them is flat")
        return self

    @cached_property
    def primitives(self) -> tuple[Primitive, ...]:
        """The parts as primitives, which things are built from."""
        return tuple(_hull(np.array(part)) for part in self.parts)

    @cached_property
    def outline(self) -> Array:
        """The convex outline seen from above, (N, 2) in metres, counter-clockwise."""
        from scipy.spatial import ConvexHull

        corners = np.array([corner[:2] for part in self.parts for corner in part])
        return corners[ConvexHull(corners).vertices]


def _hull(points: Array) -> Primitive:
    from scipy.spatial import ConvexHull

    low, high = points.min(axis=0), points.max(axis=0)
    corners = points - (low + high) / 2
    hull = ConvexHull(corners)
    a, b, c = corners[hull.simplices].transpose(1, 0, 2)
    outwards = np.einsum("ij,ij->i", hull.equations[:, :3], np.cross(b - a, c - a)) > 0
    faces = np.where(outwards[:, None], hull.simplices, hull.simplices[:, ::-1])
    return Primitive(
        "hull",
        tuple((high - low).tolist()),
        tuple(((low + high) / 2).tolist()),
        corners=tuple(map(tuple, corners.tolist())),
        faces=tuple(map(tuple, faces.tolist())),
    )


GROUP = "spca.kinds"
WALL, FLOOR = 0.007, 0.004
"""Thickness of the wall and of the floor of a bowl or a tray, metres."""
APART, OFF_WALLS = 0.006, 0.004
"""Free space between things side by side in one, and what is left over at both walls together, metres."""
_PACKINGS = 40  # orders in which things are tried to be put side by side
_NOTHING = 1e-9  # metres
_Box = tuple[float, float, float, float]  # least x and y, largest x and y

_BOWL_SIDES = 16


class KindFile(Part):
    """A package's description of a kind: a solid with the shape of the file `mesh` beside it (a `Mesh`)."""

    nouns: tuple[Annotated[str, Field(pattern="^[a-z]+$")], ...] = Field(min_length=1)
    """Nouns that mean the kind; the first is how it is usually called."""
    mesh: str = Field(pattern=r"^[\w-]{1,60}\.json$")
    room: Literal["one", "none"] = "none"
    """Room on the kind's upper face: `one` thing, in which case the face is level, or `none`."""


@dataclass(frozen=True)
class Kind:
    """Properties of every thing of a kind.

    `solid` things are grasped and moved; the others are what solids are put on or, with walls, into.
    `outline` is what it looks like from above. `room` is how many solids it carries: one, or as many as fit.
    With a `mesh` it has that shape and that size. What is `cubic` has equal edges, and any face may be
    its upper one; what is `flat` is no obstacle to the fingers; on what is `printed` there may be a text.
    """

    name: str
    nouns: tuple[str, ...]
    outline: Literal["rectangle", "disc"]
    solid: bool = False
    domed: bool = False
    walled: bool = False
    cubic: bool = False
    flat: bool = False
    printed: bool = False
    room: Literal["one", "many", "none"] = "one"
    mesh: Mesh | None = None

    @property
    def yaw_period(self) -> float:
        """Turn about the vertical, in radians, after which a thing looks the same (0: after any turn)."""
        if self.mesh is not None:
            return 2 * math.pi
        return 0.0 if self.outline == "disc" else math.pi / 2 if self.cubic else math.pi

    @property
    def spacious(self) -> bool:
        """Things lie on it side by side, without a wall around them."""
        return self.room == "many" and not self.walled

    @property
    def oblong(self) -> bool:
        """It is a block with edges of different lengths."""
        return self.solid and self.outline == "rectangle" and not self.cubic and self.mesh is None


UNKNOWN = "unknown"
"""Name of the kind of what looks like nothing known, and of its colour."""
_BUILT_IN: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("cube", ("cube", "block", "box", "brick", "die"), "rectangle", solid=True, cubic=True),
        Kind("cuboid", ("cuboid", "bar", "slab", "block", "box", "brick"), "rectangle", solid=True),
        Kind("cylinder", ("cylinder", "can", "disc", "disk"), "disc", solid=True),
        Kind("ball", ("ball", "sphere"), "disc", solid=True, domed=True, room="none"),
        Kind("plate", ("plate", "disc", "disk", "dish", "saucer", "coaster"), "disc", room="many"),
        Kind("mat", ("mat", "pad"), "rectangle", flat=True),
        Kind("bowl", ("bowl", "basket", "container"), "disc", walled=True, room="many"),
        Kind("tray", ("tray", "crate", "box", "container"), "rectangle", walled=True, room="many"),
        Kind("sign", ("sign",), "rectangle", printed=True, room="none"),
        Kind("table", ("table",), "rectangle", room="many"),
        Kind(UNKNOWN, ("thing",), "rectangle", room="none"),
    )
}


def load_kind(name: str, known: Mapping[str, Kind] = _BUILT_IN) -> Kind:
    """Return the kind that an installed package adds to those `known`. Raises InputError in one line."""
    plugin = find(GROUP, name)
    with expecting("the folder of a kind's file", f"{plugin.package} ({plugin.target})"):
        path = Path(plugin.load()) / f"{name}.yaml"
    return read_kind(path, known)


def read_kind(path: Path, known: Mapping[str, Kind] = _BUILT_IN) -> Kind:
    """Return the kind of a file, which has the file's name, beside those `known`. Raises InputError."""
    with expecting("a kind of thing", path):
        row = KindFile.model_validate(read_yaml(path, "the kind"))
        if not re.fullmatch("[a-z]+", path.stem) or path.stem in _BUILT_IN:
            raise ValueError(f"'{path.stem}' is no name: lower-case letters, and no kind of spca's own")
        for other in known.values():
            if taken := sorted({*row.nouns} & {*other.nouns}):
                raise ValueError(f"a {other.name} is called '{taken[0]}': a noun means one kind of thing")
    with expecting("the shape of a kind", path.parent / row.mesh):
        mesh = Mesh.model_validate_json(plain(path.parent / row.mesh).read_bytes())
    return Kind(path.stem, row.nouns, "rectangle", solid=True, room=row.room, mesh=mesh)


def _all() -> tuple[dict[str, Kind], tuple[InputError, ...]]:
    """Return the kinds by name, and the faults of those of installed packages that are left out."""
    kinds, faults = dict(_BUILT_IN), []
    try:
        names = sorted(installed(GROUP))
    except InputError as error:
        return kinds, (error,)
    for name in names:
        try:
            kinds[name] = load_kind(name, kinds)
        except InputError as error:
            faults.append(error)
    return kinds, tuple(faults)


KINDS, FAULTS = _all()
SOLIDS = tuple(k.name for k in KINDS.values() if k.solid)
"""Kinds of things that the gripper may move."""
SUPPORTS = ("plate", "mat", "bowl", "tray")
"""Kinds of things that stay where they are and take solids on or in them."""
CONTAINERS = tuple(k.name for k in KINDS.values() if k.walled)
STACKABLE = tuple(k.name for k in KINDS.values() if k.solid and k.room != "none")
TOPLESS = tuple(k.name for k in KINDS.values() if k.solid and k.room == "none")
"""Solids on which nothing stays; those of `STACKABLE` have a level upper face."""
DOMED = tuple(k.name for k in KINDS.values() if k.domed)
"""Solids that roll."""
FLAT = tuple(k.name for k in KINDS.values() if k.flat)
MESHES = {k.name: k.mesh for k in KINDS.values() if k.mesh is not None}


def _known(kind: object) -> object:
    if isinstance(kind, str) and kind not in KINDS:
        reasons = did_you_mean(kind, KINDS) or f"only {', '.join(KINDS)}", *map(str, FAULTS)
        raise ValueError(f"no kind '{kind}' is installed, {'; '.join(reasons)}")
    return kind


if TYPE_CHECKING:
    ObjectKind = str
else:
    ObjectKind = Annotated[Literal[tuple(KINDS)], BeforeValidator(_known)]
"""The name of a kind that is installed."""


def is_round(kind: str) -> bool:
    """Return whether a thing of the kind is a disc seen from above."""
    return KINDS[kind].outline == "disc"


def radius(kind: str, size: Vec3) -> float:
    """Return the radius in metres of the circle around a thing of that size, seen from above."""
    return size[0] / 2 if is_round(kind) else math.hypot(size[0], size[1]) / 2


def deck(kind: str, height: float) -> float:
    """Return how high (m) above its lower face a thing of that `height` carries others, on it or in it."""
    return FLOOR if KINDS[kind].walled else height


def holds(kind: str, size: Vec3, things: Sequence[Vec3]) -> int:
    """Return how many of things, the small ones first, fit side by side into a walled one; one at least."""
    inner = size[0] - 2 * WALL - OFF_WALLS, size[1] - 2 * WALL - OFF_WALLS
    edges = sorted((min(a, b) + APART, max(a, b) + APART) for a, b, _ in things)
    for count in range(len(edges), 1, -1):
        if not is_round(kind) and packed(inner, edges[:count]):
            return count
        for each in range(1, count + 1 if is_round(kind) else 1):
            rows = [edges[k : k + each] for k in range(0, count, each)]
            sides = max(sum(a for a, _ in row) for row in rows), sum(max(b for _, b in row) for row in rows)
            if math.hypot(*sides) <= inner[0]:
                return count
    return 1


def packed(
    room: tuple[float, float], things: Sequence[tuple[float, float]], taken: Iterable[_Box] = ()
) -> list[tuple[float, float, bool]]:
    """Return where the middles of rectangles have room in one from (0, 0) on, and which are turned; or none.

    Each goes into the corner where it leaves the narrowest rest, the large ones first, then in other orders.
    """
    if sum(a * b for a, b in things) > room[0] * room[1]:
        return []
    rng, large = np.random.default_rng(0), np.log([a * b for a, b in things])
    start = [(0.0, 0.0, *room)]
    for box in taken:
        start = _around(box, start)
    for mixed in np.linspace(0.0, 0.5, _PACKINGS):
        free, places = start, {}
        for index in np.argsort(-large - mixed * rng.normal(size=len(things))).tolist():
            a, b = things[index]
            ways = [
                (sorted((x1 - x0 - wide, y1 - y0 - deep)), x0, y0, wide, deep, turned)
                for x0, y0, x1, y1 in free
                for wide, deep, turned in ((a, b, False), (b, a, True))
                if min(x1 - x0 - wide, y1 - y0 - deep) > -_NOTHING
            ]
            if not ways:
                break
            _, x, y, wide, deep, turned = min(ways)
            places[index] = (x + wide / 2, y + deep / 2, turned)
            free = _around((x, y, x + wide, y + deep), free)
        else:
            return [places[index] for index in range(len(things))]
    return []


def _around(box: _Box, free: Iterable[_Box]) -> list[_Box]:
    """Return the largest rectangles of what is free around a box."""
    x0, y0, x1, y1 = box
    parts = {
        part
        for a, b, c, d in free
        for part in (
            (a, b, min(c, x0), d), (max(a, x1), b, c, d), (a, b, c, min(d, y0)), (a, max(b, y1), c, d),
        )
        if min(part[2] - part[0], part[3] - part[1]) > _NOTHING
    }  # fmt: skip
    return [
        p for p in parts
        if not any(o != p and min(p[0] - o[0], p[1] - o[1], o[2] - p[2], o[3] - p[3]) >= 0 for o in parts)
    ]  # fmt: skip


def primitives(kind: str, size: Vec3) -> tuple[Primitive, ...]:
    """Return the convex parts of a thing of that kind and size (metres), around its centre."""
    if mesh := KINDS[kind].mesh:
        return mesh.primitives
    if KINDS[kind].domed:
        return (Primitive("sphere", size),)
    if not KINDS[kind].walled:
        return (Primitive("cylinder" if is_round(kind) else "box", size),)
    a, b, c = size
    # The walls begin a little above the floor's lower face, so that only the floor stands on the table.
    height, middle, floor = c - FLOOR / 2, FLOOR / 4, (FLOOR - c) / 2
    if is_round(kind):
        reach = (a - WALL) / 2
        wall = (WALL, 2 * (a / 2) * math.tan(math.pi / _BOWL_SIDES), height)
        turns = [2 * math.pi * k / _BOWL_SIDES for k in range(_BOWL_SIDES)]
        return (
            Primitive("cylinder", (a - WALL, a - WALL, FLOOR), (0.0, 0.0, floor)),
            *(Primitive("box", wall, (reach * math.cos(t), reach * math.sin(t), middle), t) for t in turns),
        )
    return (
        Primitive("box", (a - WALL, b - WALL, FLOOR), (0.0, 0.0, floor)),
        *(Primitive("box", (WALL, b, height), (s * (a - WALL) / 2, 0.0, middle)) for s in (1, -1)),
        *(Primitive("box", (a, WALL, height), (0.0, s * (b - WALL) / 2, middle)) for s in (1, -1)),
    )


def problem_with(kind: str, size: Vec3) -> str:
    """Describe what is wrong with the size of a thing, as the end of a sentence; "" if nothing."""
    a, b, c = size
    if (mesh := KINDS[kind].mesh) and size != mesh.size:
        return f"is a {kind} of another size than {', '.join(f'{s:g}' for s in mesh.size)} m"
    if KINDS[kind].cubic and len(set(size)) > 1:
        return f"is a {kind} with sides of different lengths"
    if (is_round(kind) and a != b) or (KINDS[kind].domed and a != c):
        return f"is a {kind} with two diameters"
    if KINDS[kind].walled and (c <= 2 * FLOOR or min(a, b) <= 4 * WALL):
        return f"is a {kind} without room in it"
    return ""


class Upright:
    """A mixin for what has a kind, a pose (of its centre) and a size. Metres, in the frame of the pose."""

    if TYPE_CHECKING:
        kind: ObjectKind
        pose: Pose
        size: Vec3

    @property
    def top(self) -> float:
        """Height of the thing's upper face, in metres."""
        return self.pose.position[2] + self.size[2] / 2

    @property
    def bottom(self) -> float:
        """Height of the thing's lower face, in metres."""
        return self.pose.position[2] - self.size[2] / 2

    @property
    def deck(self) -> float:
        """Height at which other things rest on the thing, or in it, in metres."""
        return self.bottom + deck(self.kind, self.size[2])
