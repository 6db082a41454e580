"""The workspace of a world file as a MuJoCo model.

It adds purely visual elements to the physics of `spca_robot`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spca_core.geometry import Array
from spca_core.rotations import wxyz_of_matrix
from spca_core.world import World
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import Item, WorkspaceIndex, build_spec
from spca_sim.sign import print_text
from spca_sim.variation import Lighting, SimVariation
from spca_sim.view import CameraView, overview, sensor_view

SENSOR, OVERVIEW = "sensor", "overview"  # the cameras in the model
LEG = (0.34, 0.35, 0.37, 1.0)
CONTACT_TOLERANCE = 0.0005
"""Distance in metres below which surfaces of a movable thing touch, though no force acts yet.

Two cubes pushed together and let go end up a tenth of a millimetre apart, which no contact sensor and no eye
would call a gap.
"""


def build_physics(
    world: World, names: Iterable[str], variation: SimVariation
) -> tuple[mujoco.MjModel, WorkspaceIndex]:
    """Return the compiled model with the named objects in it, and its index."""
    items = [Item.of(world.object(n), variation.mass_scale, variation.friction_scale) for n in names]
    spec = build_spec(
        world, items, table="slab", pad_friction=variation.pad_friction * variation.friction_scale
    )
    for item in items:
        for geom in spec.body(item.name).geoms:
            geom.gap = CONTACT_TOLERANCE  # seen from here on; forces act from `margin` (0) on
        if world.object(item.name).text:
            print_text(spec, world.object(item.name))
    _add_legs(spec, world)
    _add_light(spec, world, variation)
    views = {SENSOR: sensor_view(world, variation), OVERVIEW: overview(world)}
    for name, view in views.items():
        _add_camera(spec, name, view)
    spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)  # what rests is not stepped
    spec.visual.global_.offwidth = max(v.intrinsics.width for v in views.values())
    spec.visual.global_.offheight = max(v.intrinsics.height for v in views.values())
    spec.visual.map.znear, spec.visual.map.zfar = 0.02, 20.0
    spec.visual.quality.offsamples, spec.visual.quality.shadowsize = 4, 2048
    model = spec.compile()
    model.stat.extent = 1.0  # znear and zfar are multiples of it
    return model, WorkspaceIndex(model)


def _add_legs(spec: mujoco.MjSpec, world: World) -> None:
    """Add four legs below the table's corners. They are visual only and have no collisions."""
    table = world.table
    height = (table.top - table.size[2]) / 2
    body = spec.body(table.model)
    for sx in (-1, 1):
        for sy in (-1, 1):
            x, y = sx * (table.size[0] / 2 - 0.04), sy * (table.size[1] / 2 - 0.04)
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX, pos=(x, y, -table.size[2] / 2 - height),
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


def place_camera(model: mujoco.MjModel, name: str, view: CameraView) -> None:
    """Move a camera of a compiled model."""
    model.camera(name).pos[:] = view.pose.position
    model.camera(name).quat[:] = _camera_quat(view)


def _camera_quat(view: CameraView) -> Array:
    # A MuJoCo camera looks along -z, y up: half a turn about x from the optical frame.
    return np.asarray(wxyz_of_matrix(view.pose.matrix()[:3, :3] @ np.diag([1.0, -1.0, -1.0])))


def _add_camera(spec: mujoco.MjSpec, name: str, view: CameraView) -> None:
    c = view.intrinsics
    spec.worldbody.add_camera(
        name=name, pos=view.pose.position, quat=_camera_quat(view), resolution=(c.width, c.height),
        sensor_size=(c.width * 1e-5, c.height * 1e-5),  # any size: the figures below are in pixels
        focal_pixel=(c.fx, c.fy),
        principal_pixel=(c.cx - (c.width - 1) / 2, (c.height - 1) / 2 - c.cy),
    )  # fmt: skip
