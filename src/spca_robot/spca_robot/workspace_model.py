"""A whole workspace as a MuJoCo model: ground, table, robot and any set of items.

The physics and the planning scene are both built here, so that they cannot disagree. They differ in the table
(a slab that things fall off, or an endless plane that a search cannot dive under).

Names. Every model of the world is one tree of bodies below the world body, and its root body bears the
model's name (`cobot`, `table_lightgray`, `ground_plane`, an item's name): see `WorkspaceIndex.geom_models`.
Contact bits. `contype` of a geom is one of ROBOT_BIT, ITEM_BIT, FIXTURE_BIT, `conaffinity` is all of them:
everything collides with everything until a user of the model changes the bits. Geoms that can never move are
in FIXED_GROUP, all others in MOVING_GROUP.
The arm. One chain of hinges straight from the DH table, links as cylinders and not capsules: capsules against
boxes miss deep penetration. Each body's frame sits on its joint, z along the joint's axis, so that a body's
offset in its parent is exactly the constant part between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spca_core.arms import Tube
from spca_core.geometry import Array, Pose, about_z, wxyz_of_matrix
from spca_core.kinds import KINDS, Primitive, primitives
from spca_core.world import RobotMount, World, WorldObject, WristSensor
from spca_robot.gripper_2f85 import driver_angle, gap_of
from spca_robot.gripper_model import SIDES, add_gripper
from spca_robot.windowless import mujoco

GREY = (0.72, 0.74, 0.76, 1.0)
BLUE = (0.42, 0.56, 0.68, 1.0)

ARMATURE = 0.1  # kg·m², the motors' inertia behind their gears
DAMPING = 1.0  # N·m·s/rad
SENSOR_MASS = 0.3  # kg, of a force-torque sensor at the wrist
CAMERA = 0.021  # m, radius of a camera at the wrist: half of a RealSense D405


def tool0(sensor: WristSensor | None) -> Array:
    """Return `tool0`, where the gripper is mounted, in the flange's frame: the same, or the sensor's face."""
    frame = np.eye(4)
    if sensor is not None:
        frame[:3, :3], frame[2, 3] = about_z(sensor.turn), sensor.length
    return frame


def add_arm(spec: mujoco.MjSpec, mount: RobotMount) -> mujoco.MjsBody:
    """Add base, links, hinges and their position actuators.

    Returns the body that carries `tool0`.

    The root body is named `mount.model`, the links `<mount.model>/<link name>`, the site on the flange
    `tool0`.
    """
    root = spec.worldbody.add_body(
        name=mount.model, pos=mount.base.position, quat=wxyz_of_matrix(about_z(mount.base.yaw))
    )
    _add_tubes(root, mount.arm.base.tubes, mount.arm.base.mass)

    parent, (*offsets, offset) = root, mount.arm.offsets
    for place, joint in zip(offsets, mount.arm.joints, strict=True):
        body = parent.add_body(
            name=f"{mount.model}/{joint.link}",
            pos=place[:3, 3],
            quat=wxyz_of_matrix(place[:3, :3]),
            gravcomp=1,
        )
        body.add_joint(
            name=joint.name,
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=(0, 0, 1),
            range=joint.range,
            armature=ARMATURE,
            damping=[DAMPING, 0, 0],
        )
        _add_tubes(body, joint.tubes, joint.mass)
        actuator = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=joint.stiffness, kv=joint.damping)
        actuator.forcerange = (-joint.torque, joint.torque)
        parent = body

    # MuJoCo skips contacts of parent and child, except where the parent is static: the base.
    spec.add_exclude(bodyname1=mount.model, bodyname2=f"{mount.model}/{mount.arm.joints[0].link}")
    face = offset @ tool0(mount.wrist_sensor)
    if mount.wrist_sensor is not None:
        parent.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            fromto=(*offset[:3, 3], *face[:3, 3]),
            size=(mount.wrist_sensor.radius, 0, 0),
            rgba=GREY,
            mass=SENSOR_MASS,
        )
    parent.add_site(name="tool0", pos=face[:3, 3], quat=wxyz_of_matrix(face[:3, :3]))
    return parent


def _add_tubes(body: mujoco.MjsBody, tubes: tuple[Tube, ...], mass: float) -> None:
    """Add cylinders to a body that share its mass (kg) by their volumes."""
    volumes = [math.pi * tube.radius**2 * math.dist(tube.start, tube.end) for tube in tubes]
    for tube, volume in zip(tubes, volumes, strict=True):
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            fromto=(*tube.start, *tube.end),
            size=(tube.radius, 0, 0),
            rgba=BLUE if tube.blue else GREY,
            mass=mass * volume / sum(volumes),
        )


ROBOT_BIT, ITEM_BIT, FIXTURE_BIT = 1, 2, 4
ALL_BITS = ROBOT_BIT | ITEM_BIT | FIXTURE_BIT
FIXED_GROUP, MOVING_GROUP = 0, 1

TIMESTEP = 0.002  # s
# Of contacts: time constant (s), damping ratio; softer ones eject held cubes in fast swings.
SOLREF = (0.004, 1.0)
SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)
# Friction about the normal (m) and against rolling (m), per unit of sliding friction.
TORSION, ROLLING = 0.005, 0.0001
ROLLING_BALL = 0.001  # m; a ball that is put down comes to rest

TableShape = Literal["slab", "plane"]


def build_spec(
    world: World, items: Iterable[WorldObject] = (), table: TableShape = "slab", pad_friction: float = 1.0
) -> mujoco.MjSpec:
    """Return the workspace as an editable MjSpec; `build_model` compiles it."""
    spec = mujoco.MjSpec()
    spec.modelname = world.name
    spec.compiler.degree = False
    _set_options(spec)

    add_gripper(spec, add_arm(spec, world.robot), world.robot.model, pad_friction)
    if (camera := world.wrist_camera) is not None:  # a round housing, so far behind that it is not in view
        at = np.array(camera.position) - camera.pose.matrix()[:3, 2] * 1.1 * CAMERA
        hand = spec.body(f"{world.robot.model}/gripper_base")
        hand.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=at, size=(CAMERA, 0, 0), rgba=GREY, mass=0.06)
    for geom in spec.geoms:
        geom.contype = ROBOT_BIT
        geom.group = FIXED_GROUP if geom.parent.name == world.robot.model else MOVING_GROUP

    spec.worldbody.add_body(name=world.ground.model).add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), contype=FIXTURE_BIT, rgba=(0.42, 0.41, 0.39, 1)
    )
    _add_table(spec, world, table)
    for item in items:
        _add_item(spec, item, world.table.top)
    return spec


def build_model(world: World, items: Iterable[WorldObject] = ()) -> tuple[mujoco.MjModel, WorkspaceIndex]:
    """Return the compiled workspace and its index. Takes a few milliseconds: cache it per set of items."""
    model = build_spec(world, items).compile()
    return model, WorkspaceIndex(model)


class WorkspaceIndex:
    """Index of things in the arrays of a compiled workspace."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        driven = model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT  # the gripper is driven by a tendon
        arm = model.actuator_trnid[driven, 0]
        self.arm_qpos: NDArray[np.intp] = np.asarray(model.jnt_qposadr[arm], dtype=np.intp)
        self.arm_qvel: NDArray[np.intp] = np.asarray(model.jnt_dofadr[arm], dtype=np.intp)
        self.drivers, self._inner, self._tips = map(self._addresses, ("driver", "inner", "tip"))
        # `item_qpos[name]`: address of x, y, z, qw, qx, qy, qz; `item_qvel[name]`: of its six velocities.
        free = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
        self.item_qpos = {model.joint(j).name: int(model.jnt_qposadr[j]) for j in free}
        self.item_qvel = {model.joint(j).name: int(model.jnt_dofadr[j]) for j in free}

    @cached_property
    def geom_models(self) -> tuple[str, ...]:
        """Name of every geom's model (`cobot`, an item, ...), by geom id."""
        roots = self._model.body_rootid[self._model.geom_bodyid]
        return tuple(self._model.body(int(b)).name for b in roots)

    def set_arm(self, data: mujoco.MjData, positions: Array) -> None:
        """Put the arm's joints at `positions` (n,), radians. Kinematics are not updated."""
        data.qpos[self.arm_qpos] = positions

    def set_gap(self, data: mujoco.MjData, gap: float) -> None:
        """Put all finger joints where the pads are `gap` metres apart. Kinematics are not updated."""
        angle = driver_angle(gap)
        data.qpos[self.drivers] = data.qpos[self._inner] = angle
        data.qpos[self._tips] = -angle

    def gap(self, data: mujoco.MjData) -> float:
        """Return the gap between the pads in metres, from the drivers' joints."""
        return gap_of(float(data.qpos[self.drivers].mean()))

    def set_item(self, data: mujoco.MjData, name: str, pose: Pose) -> None:
        """Put an item's centre at `pose` in `world`, at rest. Kinematics are not updated."""
        at, v = self.item_qpos[name], self.item_qvel[name]
        x, y, z, w = pose.quaternion
        data.qpos[at : at + 3] = pose.position
        data.qpos[at + 3 : at + 7] = w, x, y, z
        data.qvel[v : v + 6] = 0.0

    def item_pose(self, data: mujoco.MjData, name: str) -> Pose:
        """Return an item's pose in `world`. Ground truth."""
        at = self.item_qpos[name]
        px, py, pz, w, x, y, z = (float(v) for v in data.qpos[at : at + 7])
        return Pose(position=(px, py, pz), quaternion=(x, y, z, w))

    def _addresses(self, part: str) -> NDArray[np.intp]:
        """Return where the positions of the joints of both fingers' parts are."""
        return np.array([self._model.joint(f"{s}_{part}").qposadr[0] for s in SIDES], dtype=np.intp)


def _set_options(spec: mujoco.MjSpec) -> None:
    option = spec.option
    option.timestep = TIMESTEP
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON  # the CG solver drops towers
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10
    geom = spec.default.geom
    geom.condim = 4
    geom.conaffinity = ALL_BITS
    geom.friction = (1.0, TORSION, ROLLING)
    geom.solref = SOLREF
    geom.solimp = SOLIMP


def _add_table(spec: mujoco.MjSpec, world: World, shape: TableShape) -> None:
    table = world.table
    x, y, z = (s / 2 for s in table.size)
    kind, size, height = mujoco.mjtGeom.mjGEOM_BOX, (x, y, z), table.top - z
    if shape == "plane":
        kind, size, height = mujoco.mjtGeom.mjGEOM_PLANE, (x, y, 0.05), table.top
    body = spec.worldbody.add_body(name=table.model, pos=(*table.centre, height))
    friction = (table.friction, TORSION * table.friction, ROLLING * table.friction)
    look = (*table.colour, 1.0)
    body.add_geom(type=kind, size=size, rgba=look, friction=friction, contype=FIXTURE_BIT)


def _add_item(spec: mujoco.MjSpec, item: WorldObject, z: float) -> None:
    body = spec.worldbody.add_body(name=item.model, pos=(0, 0, z))
    body.add_freejoint(name=item.model)
    parts = primitives(item.kind, item.size)
    volume = sum(part.volume for part in parts)
    for part in parts:
        geom = add_primitive(spec, body, part)
        geom.rgba = (*item.colour, 1.0)
        geom.mass = item.mass * part.volume / volume
        geom.friction = (item.friction, TORSION * item.friction, ROLLING * item.friction)
        geom.contype = ITEM_BIT
        geom.group = MOVING_GROUP
        if KINDS[item.kind].domed:
            geom.condim, geom.friction = 6, (*geom.friction[:2], ROLLING_BALL)


def add_primitive(spec: mujoco.MjSpec, body: mujoco.MjsBody, part: Primitive) -> mujoco.MjsGeom:
    """Add a geom of that shape, at its place in the body, and return it."""
    a, b, c = (s / 2 for s in part.size)
    if part.shape == "hull":
        name = f"hull_{len(spec.meshes)}"
        corners, faces = np.ravel(part.corners), np.ravel(part.faces)
        spec.add_mesh(name=name, uservert=corners, userface=faces)
        return body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, pos=part.at)
    kinds = {
        "box": (mujoco.mjtGeom.mjGEOM_BOX, (a, b, c)),
        "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, (a, c, 0)),
        "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, (a, 0, 0)),
    }
    kind, size = kinds[part.shape]
    turn = (math.cos(part.yaw / 2), 0.0, 0.0, math.sin(part.yaw / 2))
    return body.add_geom(type=kind, size=size, pos=part.at, quat=turn)
