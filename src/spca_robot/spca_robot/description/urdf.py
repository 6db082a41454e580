"""The robot as a URDF: self-contained, or on top of `ur_description` and `robotiq_description`.

The self-contained one has no meshes: links and joints are read off the robot's MuJoCo model, so that URDF
and physics cannot disagree. A link has
the name of its MuJoCo body without the robot's prefix (`cobot/forearm_link` → `forearm_link`), with `_link`
where a joint has that name (sdformat wants one namespace for both); the root is `base_link`. Metres,
kilograms, radians; every pose is a 4×4 matrix in the parent's frame.

The other one has the vendors' meshes; kinematics, masses and limits are the project's. xacro composes it
(`xacro/cobot.urdf.xacro`); what the world description says is handed over here.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import yaml

from spca_core.arms import ArmDescription
from spca_core.errors import InputError
from spca_core.geometry import Array, Pose
from spca_core.paths import share
from spca_core.world import World
from spca_robot.description.moveit_config import build_srdf, controllers, moveit_config, solid_links
from spca_robot.description.names import BASE_LINK, GENERATED, GRIPPERS, VENDOR
from spca_robot.description.xml import filled, frames, numbers
from spca_robot.gripper_2f85 import ADAPTER, CLOSED_ANGLE, PAD_THICKNESS, SPEED, STROKE
from spca_robot.gripper_model import MAX_MOMENT
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import build_model

FLANGE = "tool0"

# Mean speed of the drivers when the gap changes at the gripper's full speed. Followers may be faster: they
# catch up.
_DRIVER_SPEED = CLOSED_ANGLE / (STROKE / SPEED)
_FOLLOWER_HASTE = 2.0
# The drivers share the motor's moment. What ties the followers to the left one is the linkage, stronger than
# the motor: if both drivers yielded at once, nothing would keep the held object centred.
_DRIVER_EFFORT, _FOLLOWER_EFFORT = MAX_MOMENT / 2, 2 * MAX_MOMENT
# What touches in Gazebo (decision 11): its physics lets the contact of two faces shrink to a corner, about
# which what is held swings. Three knobs against one are four points that all bear, as none of them can be
# spared. Behind them is a face for what they miss. Metres: places across the finger and along it, and edges.
_KNOBS = {"left": ((-0.005, -0.009), (0.005, -0.009), (0.0, 0.009)), "right": ((0.0, -0.003),)}
_KNOB_RADIUS = PAD_THICKNESS / 2
_FACE = (0.010, PAD_THICKNESS - 0.0006, 0.024)


def build_urdf(world: World, controllers_file: str = "") -> str:
    """Return the robot of a world as URDF (`files/cobot.urdf.j2`), standing where the world says.

    With a `controllers_file` (a path on the machine that runs Gazebo) it also carries what Gazebo needs: the
    ros2_control block, contact sensors, friction, self-collision, and pads with knobs.
    """
    model, _ = build_model(world)
    root, site = model.body(world.robot.model).id, model.site(FLANGE)
    bodies = [b for b in range(model.nbody) if model.body_rootid[b] == root]  # parents first
    links = tuple(_link(model, b, root, world.robot.arm) for b in bodies)
    carrier = _name(model.body(int(np.asarray(site.bodyid).item())).name)
    return filled(
        "cobot.urdf", world=world, links=links, carrier=carrier, flange=_pose(site.pos, site.quat),
        touching=partial(_touching, gazebo=bool(controllers_file)), gripper=GENERATED,
        controllers_file=controllers_file, **frames(world),
    )  # fmt: skip


def _touching(link: Link, gazebo: bool) -> list[Shape]:
    """Return the shapes of a link that touch other things; for Gazebo, a pad gets knobs."""
    found: list[Shape] = []
    for shape in link.shapes:
        if not (gazebo and shape.pad):
            found.append(shape)
            continue
        found.append(replace(shape, size=_FACE))
        for x, z in _KNOBS[link.name.split("_")[0]]:
            pose = shape.pose @ Pose(position=(x, 0.0, z)).matrix()
            found.append(replace(shape, kind="sphere", size=(_KNOB_RADIUS,), pose=pose))
    return found


@dataclass(frozen=True)
class Shape:
    """A box (three edges), cylinder (radius, length; along z) or sphere (radius) at `pose` in its link."""

    kind: Literal["box", "cylinder", "sphere"]
    size: tuple[float, ...]
    pose: Array
    colour: tuple[float, float, float]
    friction: float
    pad: bool  # it touches what is held


@dataclass(frozen=True)
class Joint:
    """A hinge about `axis` of the link's own frame. Limits in rad, rad/s, N·m.

    Its angle is `ratio` times that of the gripper's commanded joint; with None it is its own.
    """

    name: str
    axis: tuple[float, float, float]
    lower: float
    upper: float
    velocity: float
    effort: float
    damping: float
    ratio: float | None = None


@dataclass(frozen=True)
class Link:
    """A rigid body at `pose` in `parent`; without a `joint` it is fixed there.

    `inertia` is (3, 3) in kg·m² about the centre of mass, in the axes of the frame `centre_of_mass` (4×4).
    """

    name: str
    parent: str | None
    pose: Array
    joint: Joint | None
    shapes: tuple[Shape, ...]
    mass: float
    centre_of_mass: Array
    inertia: Array


def _name(body: str) -> str:
    if "/" not in body:
        return BASE_LINK
    name = body.split("/", 1)[1]
    return f"{name}_link" if name.endswith(("_driver", "_inner", "_tip")) else name


def _link(model: mujoco.MjModel, body: int, root: int, arm: ArmDescription) -> Link:
    is_root = body == root
    return Link(
        name=_name(model.body(body).name),
        parent=None if is_root else _name(model.body(int(model.body_parentid[body])).name),
        pose=np.eye(4) if is_root else _pose(model.body_pos[body], model.body_quat[body]),
        joint=_joint(model, int(model.body_jntadr[body]), arm) if model.body_jntnum[body] else None,
        shapes=tuple(_shape(model, int(g)) for g in np.flatnonzero(model.geom_bodyid == body)),
        mass=float(model.body_mass[body]),
        centre_of_mass=_pose(model.body_ipos[body], model.body_iquat[body]),
        inertia=np.diag(model.body_inertia[body]),
    )


def _shape(model: mujoco.MjModel, geom: int) -> Shape:
    a, b, c = (float(v) for v in model.geom_size[geom])
    r, g, blue, _ = (float(v) for v in model.geom_rgba[geom])
    types = mujoco.mjtGeom
    shapes: dict[int, tuple[Literal["box", "cylinder", "sphere"], tuple[float, ...]]] = {
        types.mjGEOM_BOX: ("box", (2 * a, 2 * b, 2 * c)),
        types.mjGEOM_CYLINDER: ("cylinder", (a, 2 * b)),
        types.mjGEOM_SPHERE: ("sphere", (a,)),
    }
    kind, size = shapes[types(model.geom_type[geom])]
    return Shape(
        kind=kind,
        size=size,
        pose=_pose(model.geom_pos[geom], model.geom_quat[geom]),
        colour=(round(r, 6), round(g, 6), round(blue, 6)),
        friction=float(model.geom_friction[geom][0]),
        pad=model.geom(geom).name.endswith("_pad"),
    )


def _joint(model: mujoco.MjModel, joint: int, arm: ArmDescription) -> Joint:
    name = model.joint(joint).name
    if name == "left_driver":  # its public name, so that joint states look the same everywhere
        name = GENERATED.commanded
    x, y, z = (float(v) for v in model.jnt_axis[joint])
    lower, upper = (float(v) for v in model.jnt_range[joint])
    ratio = GENERATED.followers.get(name)
    if name in arm.joint_names:
        own = arm.joints[arm.joint_names.index(name)]
        velocity, effort = own.velocity, own.torque
    else:
        if ratio is not None:
            lower, upper = sorted((0.0, ratio * CLOSED_ANGLE))
        velocity = _DRIVER_SPEED * (_FOLLOWER_HASTE if ratio else 1.0)
        effort = _FOLLOWER_EFFORT if ratio else _DRIVER_EFFORT
    damping = float(model.dof_damping[model.jnt_dofadr[joint]])
    return Joint(name, (x, y, z), lower, upper, velocity, effort, damping, ratio)


def _pose(position: Array, wxyz: Array) -> Array:
    return Pose(position=tuple(position), quaternion=tuple(np.roll(wxyz, -1))).matrix()


PACKAGES = ("ur_description", "robotiq_description")
XACRO = Path(__file__).resolve().parent / "xacro" / "cobot.urdf.xacro"


def missing_packages() -> list[str]:
    """Return the names of those of `PACKAGES` (and of xacro) that this machine lacks."""
    lacking = [name for name in PACKAGES if share(name) is None]
    return lacking if importlib.util.find_spec("xacro") is not None else [*lacking, "xacro"]


def build_vendor_urdf(world: World, folder: Path, controllers_file: str = "") -> str:
    """Return the URDF that xacro composes; `folder` receives the extension file (`files/extension.xacro.j2`).

    That has the camera's frames and, for Gazebo, control and contact sensors. Raises InputError that names
    what is not installed.
    """
    arm = world.robot.arm
    if arm.dh != "standard":
        hint = "use robot:=generated"
        raise InputError(f"ur_description has no {arm.title}", where="robot:=vendor", hint=hint)
    if lacking := missing_packages():
        raise InputError(
            f"not installed: {', '.join(lacking)}",
            where="robot:=vendor",
            hint="install them (docs/full-stack.md), or use robot:=generated, which needs none of them",
        )
    solid = solid_links(_process(world, "")) if controllers_file else ()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cobot_extension.xacro"
    values = {"gripper": VENDOR, "links": solid, "controllers_file": controllers_file, **frames(world)}
    path.write_text(filled("extension.xacro", world=world, **values))
    return _process(world, str(path))


def _process(world: World, extension_file: str) -> str:
    """Return what xacro composes, with what the world says as its arguments."""
    base = world.robot.base
    arguments = {
        "arm": world.robot.arm.name,
        "base_xyz": numbers(base.position),
        "base_rpy": numbers((0.0, 0.0, base.yaw)),
        "adapter": numbers([ADAPTER]),
        "extension": extension_file,
    }
    xacro = importlib.import_module("xacro")
    return xacro.process_file(str(XACRO), mappings=arguments).toprettyxml(indent="  ")


@dataclass(frozen=True)
class RobotFiles:
    """Paths of the generated files."""

    urdf: Path
    srdf: Path
    controllers: Path
    moveit: Path


def write_robot(world: World, folder: Path, source: str = "generated") -> RobotFiles:
    """Generate URDF, SRDF, controllers and MoveIt's parameters for a world.

    `source` is `generated` (self-contained) or `vendor` (ur_description + robotiq_description). The
    URDF carries Gazebo's control plugin and contact sensors. Raises InputError where a package is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    gripper = GRIPPERS[source]
    files = RobotFiles(*(folder / n for n in ("cobot.urdf", "cobot.srdf", "controllers.yaml", "moveit.yaml")))
    files.controllers.write_text(controllers(gripper, world.robot.arm.joint_names))
    controllers_file = str(files.controllers.resolve())
    if source == "vendor":
        urdf = build_vendor_urdf(world, folder, controllers_file)
    else:
        urdf = build_urdf(world, controllers_file)
    files.urdf.write_text(urdf)
    files.srdf.write_text(build_srdf(urdf, world, gripper))
    files.moveit.write_text(yaml.safe_dump(moveit_config(urdf, world, gripper), sort_keys=False))
    return files
