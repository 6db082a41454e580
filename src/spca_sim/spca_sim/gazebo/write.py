"""Writes every file that Gazebo Harmonic and `ros_gz_bridge` need into a folder, from the world description.

Every model bears its name from the world description and has one link, `link`, with a collision for each of
its convex parts, the first of them called `collision`. What can move has a contact sensor, unless the level
asks nothing about it; table and ground need none, as whatever touches them has one. The camera is in it;
the robot, with its wrist camera, is not: Gazebo spawns it from its URDF, as `cobot`. Nothing is ever attached
to anything: grasps hold by friction.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt
import yaml

from spca_core.geometry import Array, Pose, Vec3
from spca_core.kinds import Primitive, is_round, primitives
from spca_core.layout import Layout, nominal_layout
from spca_core.world import World, WorldObject
from spca_robot.description.names import CONTACT_TOPIC, camera_topic
from spca_robot.description.urdf import RobotFiles, write_robot
from spca_robot.description.xml import BODY_IN_OPTICAL, filled
from spca_ros import names

STEP = 0.0025  # s: with 4 ms, half as dear, a disc turns in the grip by more than 5° (decision 11)

# What ogre2 lets a matt level surface reflect, as a share of its colour: of the ambient light 1/π, of a lamp
# straight above what was measured in gz-rendering 8.2.
_AMBIENT_SHARE, _LAMP_SHARE = 1 / math.pi, 0.81


def build_world(
    world: World, layout: Layout | None = None, rate: float = 1.0, watched: Collection[str] = ()
) -> str:
    """Return the text of the SDF file (`files/world.sdf.j2`).

    `layout` says where the movable objects lie (nominal by default; what it does not list is left out);
    `rate` is the real-time factor to keep to (0: as fast as it can); `watched` are the objects whose contacts
    are reported (all if empty): Gazebo draws up a report for every sensor in contact at every step.
    """
    camera = world.camera
    direction = np.array(world.light.direction) / np.linalg.norm(world.light.direction)
    # A level surface is to be as bright as in the embedded simulator, in the light and in shadow.
    slant, shadow = -float(direction[2]), float(linear(world.light.ambient))
    lit = float(linear(world.light.ambient + world.light.diffuse * slant))
    return filled(
        "world.sdf", Path(__file__).with_name("files"), world=world, rate=rate, watched=watched, step=STEP,
        poses=(layout or nominal_layout(world)).poses, camera_pose=camera.pose.matrix() @ BODY_IN_OPTICAL,
        collisions=lambda count: ["collision", *(f"collision{i}" for i in range(1, count))],
        at=Pose.from_xyz_yaw, inertia=_inertia, linear=linear, primitives=primitives,
        mesh_file=mesh_file, light=direction,
        lamp=(lit - shadow) / (slant * _LAMP_SHARE), ambient=min(shadow / _AMBIENT_SHARE, 1.0),
        camera_distance=camera.position[2] - world.table.top,
    )  # fmt: skip


def mesh_file(hull: Primitive) -> str:
    """Return the name of a hull's file, in the folder of the world."""
    return f"hull_{crc32(repr(hull.corners).encode()):08x}.obj"


def mesh_text(hull: Primitive) -> str:
    """Return a hull as a text in Wavefront's OBJ."""
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in hull.corners]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in hull.faces]
    return "\n".join(lines) + "\n"


def linear(shown: npt.ArrayLike) -> Array:
    """Return linear light (0 to 1) of sRGB-encoded brightnesses, by the transfer curve of IEC 61966-2-1.

    Gazebo takes colours for shares of light and puts its pictures through the inverse of this curve.

    >>> linear([0.0, 0.5, 1.0]).round(3).tolist()
    [0.0, 0.214, 1.0]
    """
    value = np.asarray(shown, dtype=float)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _inertia(thing: WorldObject) -> Vec3:
    """Return the moments of inertia of a solid box or cylinder, kg·m²."""
    mass, (a, b, c) = thing.mass, thing.size
    if is_round(thing.kind):
        across = mass * (3 * (a / 2) ** 2 + c**2) / 12
        return across, across, mass * (a / 2) ** 2 / 2
    return mass * (b**2 + c**2) / 12, mass * (a**2 + c**2) / 12, mass * (a**2 + b**2) / 12


@dataclass(frozen=True)
class Topic:
    """One topic, under two names: an entry of the bridge's YAML file."""

    ros_topic_name: str
    gz_topic_name: str
    ros_type_name: str
    gz_type_name: str
    direction: str = "GZ_TO_ROS"
    lazy: bool = False
    """The topic is passed on, and Gazebo asked for it, only while somebody listens."""


CLOCK = Topic("/gazebo/clock", "/clock", "rosgraph_msgs/msg/Clock", "gz.msgs.Clock")
"""Clock for the node `sim` alone, which publishes `/clock` less often than once a physics step.

Once a step, as Gazebo does, keeps a processor busy in every node that uses simulated time.
"""


def camera_topics(at: str = "") -> tuple[Topic, Topic, Topic]:
    """Return the topics of a camera's colours, depth and points (see `camera_topic`)."""

    def of(name: str, ros_type: str, gz_type: str) -> Topic:
        topic = f"{camera_topic(at)}/{name}"
        return Topic(topic, topic, f"sensor_msgs/msg/{ros_type}", f"gz.msgs.{gz_type}", lazy=True)

    points = of("points", "PointCloud2", "PointCloudPacked")
    return of("image", "Image", "Image"), of("depth_image", "Image", "Image"), points


CONTACTS = Topic(CONTACT_TOPIC, CONTACT_TOPIC, "ros_gz_interfaces/msg/Contacts", "gz.msgs.Contacts")
POSES = "/spca/gazebo/poses"
"""Topic of the poses of everything that can move (`geometry_msgs/PoseArray`): ground truth."""


def bridge_config(world: World) -> list[dict[str, object]]:
    """Return the list that becomes the bridge's YAML file.

    Camera information is not among its topics; the node makes it from the world description (Gazebo counts
    pixels otherwise, see `parts.xml.j2`).
    """
    told = f"/world/{world.name}/dynamic_pose/info"
    poses = Topic(POSES, told, "geometry_msgs/msg/PoseArray", "gz.msgs.Pose_V")
    wrist = camera_topics(names.WRIST) if world.wrist_camera else ()
    return [asdict(topic) for topic in (CLOCK, *camera_topics(), *wrist, CONTACTS, poses)]


@dataclass(frozen=True)
class GazeboFiles:
    """Paths of the generated files."""

    world: Path
    bridge: Path
    robot: RobotFiles


def write_all(
    world: World,
    folder: Path,
    layout: Layout | None = None,
    source: str = "generated",
    rate: float = 1.0,
    watched: Collection[str] = (),
) -> GazeboFiles:
    """Generate the world, the bridge's configuration and the robot's files.

    See `build_world` and `write_robot`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = GazeboFiles(
        folder / f"{world.name}.sdf", folder / "bridge.yaml", write_robot(world, folder, source)
    )
    files.world.write_text(build_world(world, layout, rate, watched))
    for thing in world.objects:
        for part in primitives(thing.kind, thing.size):
            if part.shape == "hull":
                (folder / mesh_file(part)).write_text(mesh_text(part))
    files.bridge.write_text(yaml.safe_dump(bridge_config(world), sort_keys=False))
    return files
