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
BASE_TUBE = Tube((0, 0, 0), (0, 0, 0.026), 0.075)

# Radii and lengths follow the outline of Universal Robots' drawing of the UR5; one row a link.
LINK_TUBES: tuple[tuple[Tube, ...], ...] = (
    (Tube((0, 0, 0.026), (0, 0, _D1 + 0.06), 0.06), Tube((0, 0, _D1), (0, 0.07, _D1), 0.058, BLUE)),
    (
        Tube((0, 0, 0.072), (0, 0, ur5.SHOULDER_OFFSET + 0.06), 0.058, BLUE),
        Tube((0, 0, ur5.SHOULDER_OFFSET), (_UPPER, 0, ur5.SHOULDER_OFFSET), 0.048),
        Tube((_UPPER, 0, 0.078), (_UPPER, 0, ur5.SHOULDER_OFFSET + 0.055), 0.05, BLUE),
    ),
    (
        Tube((0, 0, ur5.FOREARM_OFFSET - 0.05), (0, 0, 0.076), 0.05),
        Tube((0, 0, ur5.FOREARM_OFFSET), (_FORE, 0, ur5.FOREARM_OFFSET), 0.04),
        Tube((_FORE, 0, ur5.FOREARM_OFFSET - 0.045), (_FORE, 0, 0.06), 0.041, BLUE),
    ),
    (Tube((0, 0, 0.062), (0, 0, _D4 + 0.042), 0.04),),
    (Tube((0, 0, 0.038), (0, 0, _D5 + 0.042), 0.04, BLUE),),
    (Tube((0, 0, 0.042), (0, 0, _D6), 0.037),),
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
    add_tube(root, BASE_TUBE, mass=ur5.BASE_MASS)

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
        tubes = LINK_TUBES[i]
        for tube in tubes:
            add_tube(body, tube, mass=ur5.LINK_MASSES[i] * tube.volume / sum(t.volume for t in tubes))
        actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=KP[i], kv=KV[i])
        actuator.forcelimited = True
        actuator.forcerange = (-ur5.TORQUE_LIMITS[i], ur5.TORQUE_LIMITS[i])
        parent, offset = body, ur5.link_transform(i)

    # MuJoCo skips contacts of parent and child, except where the parent is static: the base.
    spec.add_exclude(bodyname1=mount.model, bodyname2=f"{mount.model}/{ur5.LINK_NAMES[0]}")
    parent.add_site(name="tool0", pos=offset[:3, 3], quat=wxyz_of_matrix(offset[:3, :3]))
    return parent


def add_tube(body: mujoco.MjsBody, tube: Tube, mass: float) -> None:
    """Add a cylinder of that mass (kg) to a body."""
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        fromto=(*tube.start, *tube.end),
        size=(tube.radius, 0, 0),
        rgba=tube.colour,
        mass=mass,
    )
