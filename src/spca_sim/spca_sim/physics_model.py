"""The workspace of a world file as a MuJoCo model.

It adds purely visual elements to the physics of `spca_robot`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.errors import InputError
from spca_core.geometry import Array, Vec3
from spca_core.world import World, WorldObject
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import WorkspaceIndex, build_spec
from spca_sim.variation import Lighting, SimVariation

_PIXELS_PER_METRE = 4000.0
_INK = 0.05  # reflectance
_MARGIN = 0.08  # of the sign's height, all around
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_LINES = range(1, 9)

Texture = NDArray[np.uint8]


def print_text(spec: mujoco.MjSpec, thing: WorldObject) -> None:
    """Put a sign's text on its geom."""
    image = texture(thing.text, thing.size, thing.colour)
    name = f"{thing.model}/print"
    height, width = image.shape[:2]
    print_ = spec.add_texture(
        name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=3
    )
    print_.data = image.tobytes()
    spec.add_material(name=name).textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    for geom in spec.body(thing.model).geoms:
        geom.material = name
        geom.rgba = (1, 1, 1, 1)  # MuJoCo multiplies the two


def texture(text: str, size: Vec3, colour: Vec3) -> Texture:
    """Return RGB pixels as MuJoCo lays them over a face: columns along the body's x, rows against its y.

    The text reads with +x up and +y to the left, as the workspace camera sees it, so it lies on its side
    here.
    """
    height, width = (max(8, round(s * _PIXELS_PER_METRE)) for s in size[:2])  # x is up, y is across
    page = np.empty((height, width, 3), np.uint8)
    page[:] = np.round(np.array(colour) * 255)
    lines, scale, stroke = _layout(text, width * (1 - 2 * _MARGIN), height * (1 - 2 * _MARGIN))
    pitch = height * (1 - 2 * _MARGIN) / len(lines)
    for i, line in enumerate(lines):
        (across, up), _ = cv2.getTextSize(line, _FONT, scale, stroke)
        at = (round((width - across) / 2), round(height * _MARGIN + pitch * (i + 0.5) + up / 2))
        cv2.putText(page, line, at, _FONT, scale, (round(_INK * 255),) * 3, stroke, cv2.LINE_AA)
    return np.ascontiguousarray(np.rot90(page, -1))


def _layout(text: str, width: float, height: float) -> tuple[list[str], float, int]:
    """Return the lines, font scale and stroke with which the text is as large as it can be."""
    best: tuple[list[str], float] = ([text], 0.0)
    for count in _LINES:
        lines = textwrap.wrap(text, max(1, -(-len(text) // count))) or [""]
        widest = max(cv2.getTextSize(line, _FONT, 1.0, 2)[0][0] for line in lines)
        # A line of this font is 36 pixels apart.
        scale = min(width / max(widest, 1), height / len(lines) / 36.0)
        if scale > best[1]:
            best = lines, scale
    return *best, max(1, round(best[1] * 2))


def prints(model: mujoco.MjModel) -> dict[int, Texture]:
    """Return what is printed on the geoms of a compiled model, by their ids."""
    found = {}
    for geom in np.flatnonzero(model.geom_matid >= 0).tolist():  # nothing else is of a material
        number = model.mat_texid[model.geom_matid[geom], mujoco.mjtTextureRole.mjTEXROLE_RGB]
        start, height, width = (a[number] for a in (model.tex_adr, model.tex_height, model.tex_width))
        pixels = model.tex_data[start : start + height * width * 3]
        found[geom] = pixels.reshape(height, width, 3)
    return found


def reflectance(image: Texture, half: Array, points: Array) -> NDArray[np.float32]:
    """Return the reflectance (N, 3) of a print at `points` (N, 3) in its geom's frame, of `half` sizes."""
    height, width = image.shape[:2]
    column = np.floor((points[:, 0] / (2 * half[0]) + 0.5) * width).astype(int).clip(0, width - 1)
    row = np.floor((0.5 - points[:, 1] / (2 * half[1])) * height).astype(int).clip(0, height - 1)
    return (image[row, column] / np.float32(255)).astype(np.float32)


LEG = (0.34, 0.35, 0.37, 1.0)
CONTACT_TOLERANCE = 0.0005
"""Distance in metres below which surfaces of a movable thing touch, though no force acts yet.

Two cubes pushed together and let go end up a tenth of a millimetre apart, which no contact sensor and no eye
would call a gap.
"""


def build_physics(
    world: World, names: Iterable[str], variation: SimVariation
) -> tuple[mujoco.MjModel, WorkspaceIndex]:
    """Return the compiled model with the named objects in it, and its index. Raises InputError."""
    scales = {"mass": variation.mass_scale, "friction": variation.friction_scale}
    items = [
        thing.model_copy(update={what: getattr(thing, what) * scale for what, scale in scales.items()})
        for thing in map(world.object, names)
    ]
    spec = build_spec(
        world, items, table="slab", pad_friction=variation.pad_friction * variation.friction_scale
    )
    for item in items:
        for geom in spec.body(item.model).geoms:
            geom.gap = CONTACT_TOLERANCE  # seen from here on; forces act from `margin` (0) on
        if item.text:
            print_text(spec, item)
    _add_legs(spec, world)
    _add_light(spec, world, variation)
    spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)  # what rests is not stepped
    spec.visual.map.znear, spec.visual.map.zfar, spec.visual.quality.shadowsize = 0.02, 20.0, 2048
    try:
        model = spec.compile()
    except ValueError as error:
        raise InputError(f"the world '{world.name}' cannot be simulated", hint=str(error)) from error
    model.stat.extent = 1.0  # znear and zfar are multiples of it
    return model, WorkspaceIndex(model)


def _add_legs(spec: mujoco.MjSpec, world: World) -> None:
    """Add four legs below the table's corners. They are visual only and have no collisions."""
    table = world.table
    height = (table.top - table.size[2]) / 2
    body = spec.body(table.model)
    x, y = (side / 2 - 0.04 for side in table.size[:2])
    for corner in product((-x, x), (-y, y)):
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, pos=(*corner, -table.size[2] / 2 - height),
            size=(0.025, 0.025, height), rgba=LEG, contype=0, conaffinity=0,
        )  # fmt: skip


def _add_light(spec: mujoco.MjSpec, world: World, variation: SimVariation) -> None:
    """Add the world's light, for GL: a lamp far away on its line through the middle of the work area."""
    lamp = Lighting.of(world, variation)
    centre = np.array([*world.table.centre, world.table.top])
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, pos=centre - 3.0 * lamp.direction, dir=lamp.direction,
        diffuse=(lamp.diffuse,) * 3, specular=(0.1,) * 3, castshadow=True,
        ambient=(0, 0, 0),  # OpenGL would take a lamp's ambient light away in its shadow
    )  # fmt: skip
    spec.visual.headlight.ambient = (lamp.ambient,) * 3
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = (0, 0, 0)
