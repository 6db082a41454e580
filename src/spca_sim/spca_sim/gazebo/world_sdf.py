"""The workspace as an SDF world for Gazebo Harmonic, from the same description as the embedded simulator's.

Every model bears its name from the world description and has one link, `link`, with a collision for each of
its convex parts, the first of them called `collision`. What can move has a contact sensor, unless the level
asks nothing about it; table and ground need none, as whatever touches them has one. The camera is in it;
the robot is not: Gazebo spawns it from its URDF, as `cobot`. Nothing is ever attached to anything: grasps
hold by friction.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from zlib import crc32

import numpy as np
import numpy.typing as npt

from spca_core.geometry import Array, Pose, Vec3
from spca_core.kinds import is_round, primitives
from spca_core.layout import Layout, nominal_layout
from spca_core.mesh import Primitive
from spca_core.world import CameraMount, World, WorldObject
from spca_robot.description.gazebo import add_contact_sensor
from spca_robot.description.names import OPTICAL_FRAME
from spca_robot.description.xml import BODY_IN_OPTICAL, Element, add, document, numbers, xyz_rpy


def add_pose(parent: Element, pose: Array) -> None:
    """Add a `<pose>` that a 4×4 matrix describes."""
    xyz, rpy = xyz_rpy(pose)
    add(parent, "pose", f"{xyz} {rpy}")


def add_box(parent: Element, size: Vec3) -> None:
    """Add a box geometry with these edges (m)."""
    add(add(add(parent, "geometry"), "box"), "size", size)


def add_cylinder(parent: Element, radius: float, length: float) -> None:
    """Add a cylinder geometry along z (m)."""
    cylinder = add(add(parent, "geometry"), "cylinder")
    add(cylinder, "radius", radius)
    add(cylinder, "length", length)


def add_primitive(parent: Element, part: Primitive) -> None:
    """Add the geometry of a convex part of a thing, at its place in the thing's frame."""
    if part.at != (0.0, 0.0, 0.0) or part.yaw:
        add_pose(parent, Pose.from_xyz_yaw(*part.at, part.yaw).matrix())
    if part.shape == "box":
        add_box(parent, part.size)
    elif part.shape == "cylinder":
        add_cylinder(parent, part.size[0] / 2, part.size[2])
    elif part.shape == "sphere":
        add(add(add(parent, "geometry"), "sphere"), "radius", part.size[0] / 2)
    else:
        add(add(add(parent, "geometry"), "mesh"), "uri", mesh_file(part))


def mesh_file(hull: Primitive) -> str:
    """Return the name of a hull's file, in the folder of the world."""
    return f"hull_{crc32(repr(hull.corners).encode()):08x}.obj"


def mesh_text(hull: Primitive) -> str:
    """Return a hull as a text in Wavefront's OBJ."""
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in hull.corners]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in hull.faces]
    return "\n".join(lines) + "\n"


def add_ground(parent: Element, size: float) -> None:
    """Add a horizontal plane geometry, drawn `size` metres wide (it has no end for the physics)."""
    plane = add(add(parent, "geometry"), "plane")
    add(plane, "normal", (0, 0, 1))
    add(plane, "size", (size, size))


def linear(shown: npt.ArrayLike) -> Array:
    """Return linear light (0 to 1) of sRGB-encoded brightnesses, by the transfer curve of IEC 61966-2-1.

    Gazebo takes colours for shares of light and puts its pictures through the inverse of this curve.

    >>> linear([0.0, 0.5, 1.0]).round(3).tolist()
    [0.0, 0.214, 1.0]
    """
    value = np.asarray(shown, dtype=float)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def add_colour(visual: Element, colour: Vec3) -> None:
    """Add a matt surface that a picture shows in that colour (RGB, 0 to 1) when it is fully lit."""
    material = add(visual, "material")
    for kind in ("ambient", "diffuse"):
        add(material, kind, numbers((*linear(colour), 1.0)))
    add(material, "specular", numbers((0.05, 0.05, 0.05, 1.0)))


def add_friction(collision: Element, mu: float) -> None:
    """Add Coulomb friction; where two surfaces meet, DART takes the smaller of the two."""
    ode = add(add(add(collision, "surface"), "friction"), "ode")
    add(ode, "mu", mu)
    add(ode, "mu2", mu)


def add_inertia(link: Element, mass: float, size: Vec3, round_: bool) -> None:
    """Add mass (kg) and inertia of a solid box or cylinder.

    A cylinder has diameter size[0] and height size[2].
    """
    a, b, c = size
    if round_:
        across = mass * (3 * (a / 2) ** 2 + c**2) / 12
        moments = (across, across, mass * (a / 2) ** 2 / 2)
    else:
        moments = (mass * (b**2 + c**2) / 12, mass * (a**2 + c**2) / 12, mass * (a**2 + b**2) / 12)
    inertial = add(link, "inertial")
    add(inertial, "mass", mass)
    inertia = add(inertial, "inertia")
    for name, value in zip(("ixx", "iyy", "izz"), moments, strict=True):
        add(inertia, name, value)
    for name in ("ixy", "ixz", "iyz"):
        add(inertia, name, 0.0)


SDF_VERSION = "1.9"  # read by sdformat 12 and all newer ones (Harmonic has 14)
STEP = 0.0025  # s: with 4 ms, half as dear, a disc turns in the grip by more than 5° (decision 11)
_GROUND_SIZE, _GROUND_COLOUR = 10.0, (0.42, 0.41, 0.39)

# What ogre2 lets a matt level surface reflect, as a share of its colour: of the ambient light 1/π, of a lamp
# straight above what was measured in gz-rendering 8.2.
_AMBIENT_SHARE, _LAMP_SHARE = 1 / math.pi, 0.81

# Plugin libraries and their classes. The Contact system must be here: contact sensors alone report nothing.
_SYSTEMS = (
    ("gz-sim-physics-system", "gz::sim::systems::Physics"),
    ("gz-sim-user-commands-system", "gz::sim::systems::UserCommands"),
    ("gz-sim-scene-broadcaster-system", "gz::sim::systems::SceneBroadcaster"),
    ("gz-sim-contact-system", "gz::sim::systems::Contact"),
)


CAMERA_TOPIC = "/spca/gazebo/camera"
"""Topic of the camera, to which Gazebo appends `/image`, `/depth_image`, `/points` and `/camera_info`."""
_POSE_RATE = 100  # messages in a wall second, at most, that say where everything is that can move

# Gazebo puts the origin of pixel coordinates at the corner of the first pixel, ROS and this project at its
# centre.
PIXEL_CENTRE = 0.5


def build_world(
    world: World, layout: Layout | None = None, rate: float = 1.0, watched: Collection[str] = ()
) -> str:
    """Return the text of the SDF file.

    `layout` says where the movable objects lie (nominal by default; what it does not list is left out);
    `rate` is the real-time factor to keep to (0: as fast as it can); `watched` are the objects whose contacts
    are reported (all if empty): Gazebo draws up a report for every sensor in contact at every step.
    """
    sdf = Element("sdf", version=SDF_VERSION)
    scene = add(sdf, "world", name=world.name)
    _add_physics(scene, rate)
    for filename, name in _SYSTEMS:
        system = add(scene, "plugin", filename=filename, name=name)
        if name.endswith("SceneBroadcaster"):
            add(system, "dynamic_pose_hertz", _POSE_RATE)
    sensors = add(scene, "plugin", filename="gz-sim-sensors-system", name="gz::sim::systems::Sensors")
    add(sensors, "render_engine", "ogre2")
    add(scene, "gravity", (0.0, 0.0, -9.81))
    _add_light(scene, world)
    _add_fixtures(scene, world)
    poses = (layout or nominal_layout(world)).poses
    for thing in world.objects:
        if thing.model in poses:
            _add_object(scene, thing, poses[thing.model], sensed=not watched or thing.model in watched)
    add_camera(scene, world.camera, distance=world.camera.position[2] - world.table.top)
    return document(sdf, "Generated from the world description by spca_sim; do not edit.")


def _add_physics(scene: Element, rate: float) -> None:
    physics = add(scene, "physics", name="steps", type="dart", default=True)
    add(physics, "max_step_size", STEP)
    add(physics, "real_time_factor", rate)
    dart = add(physics, "dart")
    add(dart, "collision_detector", "ode")  # fcl lets held cubes slip
    add(add(dart, "solver"), "solver_type", "dantzig")


def _add_light(scene: Element, world: World) -> None:
    """Add ambient light and a lamp that make a level surface as bright as in the embedded simulator.

    The match holds in the light and in shadow.
    """
    direction = np.array(world.light.direction) / np.linalg.norm(world.light.direction)
    slant = -float(direction[2])
    shadow = float(linear(world.light.ambient))
    lit = float(linear(world.light.ambient + world.light.diffuse * slant))
    level = min(shadow / _AMBIENT_SHARE, 1.0)
    look = add(scene, "scene")
    add(look, "ambient", (level, level, level, 1.0))
    add(look, "background", (0.6, 0.65, 0.7, 1.0))
    add(look, "grid", False)
    light = add(scene, "light", name="lamp", type="directional")
    add(light, "cast_shadows", True)
    add(light, "pose", "0 0 4 0 0 0")
    add(light, "intensity", (lit - shadow) / (slant * _LAMP_SHARE))
    add(light, "diffuse", (1.0, 1.0, 1.0, 1.0))
    add(light, "specular", (0.1, 0.1, 0.1, 1.0))
    add(light, "direction", direction)


def _add_fixtures(scene: Element, world: World) -> None:
    ground = _add_model(scene, world.ground.model, np.eye(4), static=True)
    for part in _surfaces(ground):
        add_ground(part, _GROUND_SIZE)
    _finish(ground, _GROUND_COLOUR, friction=1.0)

    table = world.table
    pose = Pose.from_xyz_yaw(*table.centre, table.top - table.size[2] / 2).matrix()
    slab = _add_model(scene, table.model, pose, static=True)
    for part in _surfaces(slab):
        add_box(part, table.size)
    _finish(slab, table.colour, table.friction)


def _add_object(scene: Element, thing: WorldObject, pose: Pose, sensed: bool) -> None:
    link = _add_model(scene, thing.model, pose.matrix())
    add_inertia(link, thing.mass, thing.size, is_round(thing.kind))
    parts = primitives(thing.kind, thing.size)
    for number, primitive in enumerate(parts):
        for part in _surfaces(link, str(number or "")):
            add_primitive(part, primitive)
        _finish(link, thing.colour, thing.friction, str(number or ""))
    if sensed:
        add_contact_sensor(link, f"{thing.model}_contact", [f"collision{i or ''}" for i in range(len(parts))])


def _add_model(scene: Element, name: str, pose: Array, static: bool = False) -> Element:
    model = add(scene, "model", name=name)
    if static:
        add(model, "static", True)
    add_pose(model, pose)
    return add(model, "link", name="link")


def _surfaces(link: Element, number: str = "") -> tuple[Element, Element]:
    return add(link, "collision", name=f"collision{number}"), add(link, "visual", name=f"visual{number}")


def _finish(link: Element, colour: tuple[float, float, float], friction: float, number: str = "") -> None:
    collision = link.find(f"collision[@name='collision{number}']")
    visual = link.find(f"visual[@name='visual{number}']")
    assert collision is not None and visual is not None
    add_friction(collision, friction)
    add_colour(visual, colour)


def add_camera(scene: Element, camera: CameraMount, distance: float) -> None:
    """Add a static model whose only link is the camera's body: it looks along its +x, +z up in the image.

    An RGB-D sensor of Gazebo adds its noise to the depth, in metres and alike at any depth (and next to none
    to the colours): the noise here is that of the world's camera at `distance` metres.
    """
    model = add(scene, "model", name=camera.name)
    add(model, "static", True)
    add_pose(model, camera.pose.matrix() @ BODY_IN_OPTICAL)
    link = add(model, "link", name="link")
    sensor = add(link, "sensor", name="rgbd", type="rgbd_camera")
    add(sensor, "always_on", True)
    add(sensor, "update_rate", camera.rate_hz)
    add(sensor, "topic", CAMERA_TOPIC)
    optics = add(sensor, "camera")
    add(optics, "horizontal_fov", 2 * math.atan(camera.width / (2 * camera.fx)))
    image = add(optics, "image")
    add(image, "width", camera.width)
    add(image, "height", camera.height)
    add(image, "format", "R8G8B8")
    clip = add(optics, "clip")
    add(clip, "near", camera.near)
    add(clip, "far", camera.far)
    noise = add(optics, "noise")
    add(noise, "type", "gaussian")
    add(noise, "mean", 0.0)
    add(noise, "stddev", camera.noise.depth_sigma * distance**2)
    intrinsics = add(add(optics, "lens"), "intrinsics")
    for name, value in (
        ("fx", camera.fx),
        ("fy", camera.fy),
        ("cx", camera.cx + PIXEL_CENTRE),
        ("cy", camera.cy + PIXEL_CENTRE),
        ("s", 0.0),
    ):
        add(intrinsics, name, value)
    add(optics, "optical_frame_id", OPTICAL_FRAME)
