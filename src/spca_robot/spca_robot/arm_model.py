"""The UR5 as MuJoCo bodies: one chain of hinges straight from the DH table, links as cylinders.

Cylinders and not capsules: capsules against boxes miss deep penetration. Each body's frame sits on its joint,
z along the joint's axis, so that a body's offset in its parent is exactly the DH constant part of the joint
before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spca_core.geometry import Array
from spca_core.rotations import about_z, wxyz_of_matrix
from spca_core.trajectory import JOINT_NAMES
from spca_core.world import RobotMount
from spca_robot import ur5
from spca_robot.windowless import mujoco

GREY = (0.72, 0.74, 0.76, 1.0)
BLUE = (0.42, 0.56, 0.68, 1.0)

# Position servo of each joint: torque = KP·(command - q) - KV·q̇. Tuned for a 2 ms step; tracks within 4 mrad
# when the command carries the feed-forward (KV/KP)·q̇ of the reference.
KP: Array = np.array([4000.0, 4000.0, 3000.0, 800.0, 800.0, 400.0])  # N·m/rad
KV: Array = np.array([300.0, 300.0, 200.0, 50.0, 50.0, 25.0])  # N·m·s/rad
ARMATURE = 0.1  # kg·m², the motors' inertia behind their gears
DAMPING = 1.0  # N·m·s/rad
SENSOR_MASS = 0.3  # kg, of a force-torque sensor at the wrist


@dataclass(frozen=True)
class Tube:
    """A cylinder of a link, in the frame of the link's body (metres)."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float
    colour: tuple[float, float, float, float] = GREY

    @property
    def volume(self) -> float:
        """Its volume in m³."""
        return math.pi * self.radius**2 * math.dist(self.start, self.end)


_UPPER, _FORE = float(ur5.DH_A[1]), float(ur5.DH_A[2])
_D1, _D4, _D5, _D6 = (float(ur5.DH_D[i]) for i in (0, 3, 4, 5))
# The tubes contain the collision meshes of Universal Robots' own description of the UR5, fillets and
# connectors included: a configuration that is free for them is free for the real arm.
BASE_TUBES = (
    Tube((0, 0, 0), (0, 0, 0.0215), 0.0748),
    Tube((0, 0, 0.0055), (0, -0.1105, 0.0055), 0.0062),  # the cable's connector
)
_AXIS, _FORE_AXIS = ur5.SHOULDER_OFFSET, ur5.FOREARM_OFFSET
LINK_TUBES: tuple[tuple[Tube, ...], ...] = (
    (Tube((0, 0, 0.0215), (0, 0, 0.1585), 0.061), Tube((0, 0, _D1), (0, -0.0708, _D1), 0.0588, BLUE)),
    (
        Tube((0, 0, 0.0704), (0, 0, 0.2047), 0.0602, BLUE),
        Tube((0, 0, _AXIS), (-0.1, 0, _AXIS), 0.0605),
        Tube((0, 0, _AXIS), (_UPPER, 0, _AXIS), 0.051),
        Tube((_UPPER, 0, _AXIS), (_UPPER + 0.1, 0, _AXIS), 0.0605),
        Tube((_UPPER, 0, 0.0704), (_UPPER, 0, 0.2047), 0.0602, BLUE),
    ),
    (
        Tube((0, 0, -0.0128), (0, 0, 0.071), 0.059),
        Tube((0, 0, _FORE_AXIS), (-0.08, 0, _FORE_AXIS), 0.05),
        Tube((0, 0, _FORE_AXIS), (_FORE, 0, _FORE_AXIS), 0.0381),
        Tube((_FORE, 0, -0.0413), (_FORE, 0, 0.0639), 0.0393, BLUE),
        Tube((_FORE, 0, -0.0245), (_FORE, 0, 0.0125), 0.0396, BLUE),
    ),
    (
        Tube((0, 0, 0.0633), (0, 0, 0.149), 0.0384),
        Tube((0, -0.0478, _D4), (0, 0.0482, _D4), 0.0387),
        Tube((0, 0.004, _D4), (0, 0.037, _D4), 0.0397),
        Tube((0, 0.047, _D4), (0, 0.0575, _D4), 0.0378),
    ),
    (
        Tube((0, 0, 0.0488), (0, 0, 0.1337), 0.0384, BLUE),
        Tube((0, 0.0478, _D5), (0, -0.047, _D5), 0.0389, BLUE),
        Tube((0, 0.001, _D5), (0, -0.0495, _D5), 0.0393, BLUE),
        Tube((0, -0.047, _D5), (0, -0.0575, _D5), 0.0378, BLUE),
    ),
    (Tube((0, 0, 0.047), (0, 0, _D6), 0.0379), Tube((0, 0, 0.0621), (0, -0.0433, 0.0621), 0.0051)),
)


def add_arm(spec: mujoco.MjSpec, mount: RobotMount) -> mujoco.MjsBody:
    """Add base, links, hinges (`JOINT_NAMES`) and their position actuators.

    Returns the body that carries `tool0`.

    The root body is named `mount.model`, the links `<mount.model>/<link name>`, the site on the flange
    `tool0`.
    """
    root = spec.worldbody.add_body(
        name=mount.model, pos=mount.base.position, quat=wxyz_of_matrix(about_z(mount.base.yaw))
    )
    _add_tubes(root, BASE_TUBES, ur5.BASE_MASS)

    parent, offset = root, ur5.BASE_TO_DH
    for i, (joint, link) in enumerate(zip(JOINT_NAMES, ur5.LINK_NAMES, strict=True)):
        body = parent.add_body(
            name=f"{mount.model}/{link}",
            pos=offset[:3, 3],
            quat=wxyz_of_matrix(offset[:3, :3]),
            gravcomp=1,
        )
        body.add_joint(
            name=joint,
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=(0, 0, 1),
            limited=mujoco.mjtLimited.mjLIMITED_TRUE,
            range=ur5.POSITION_LIMITS[i],
            armature=ARMATURE,
            damping=[DAMPING, 0, 0],
        )
        _add_tubes(body, LINK_TUBES[i], float(ur5.LINK_MASSES[i]))
        actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=KP[i], kv=KV[i])
        actuator.forcelimited = True
        actuator.forcerange = (-ur5.TORQUE_LIMITS[i], ur5.TORQUE_LIMITS[i])
        parent, offset = body, ur5.link_transform(i)

    # MuJoCo skips contacts of parent and child, except where the parent is static: the base.
    spec.add_exclude(bodyname1=mount.model, bodyname2=f"{mount.model}/{ur5.LINK_NAMES[0]}")
    tool0 = offset @ ur5.tool0(mount.wrist_sensor)
    if mount.wrist_sensor is not None:
        parent.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            fromto=(*offset[:3, 3], *tool0[:3, 3]),
            size=(mount.wrist_sensor.radius, 0, 0),
            rgba=GREY,
            mass=SENSOR_MASS,
        )
    parent.add_site(name="tool0", pos=tool0[:3, 3], quat=wxyz_of_matrix(tool0[:3, :3]))
    return parent


def _add_tubes(body: mujoco.MjsBody, tubes: tuple[Tube, ...], mass: float) -> None:
    """Add cylinders to a body that share its mass (kg) by their volumes."""
    volume = sum(tube.volume for tube in tubes)
    for tube in tubes:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            fromto=(*tube.start, *tube.end),
            size=(tube.radius, 0, 0),
            rgba=tube.colour,
            mass=mass * tube.volume / volume,
        )
