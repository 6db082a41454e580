"""An arm as MuJoCo bodies: one chain of hinges straight from the DH table, links as cylinders.

Cylinders and not capsules: capsules against boxes miss deep penetration. Each body's frame sits on its joint,
z along the joint's axis, so that a body's offset in its parent is exactly the constant part between them.
"""

from __future__ import annotations

import math

import numpy as np

from spca_core.arms import Tube
from spca_core.geometry import Array
from spca_core.rotations import about_z, wxyz_of_matrix
from spca_core.world import RobotMount, WristSensor
from spca_robot.windowless import mujoco

GREY = (0.72, 0.74, 0.76, 1.0)
BLUE = (0.42, 0.56, 0.68, 1.0)

ARMATURE = 0.1  # kg·m², the motors' inertia behind their gears
DAMPING = 1.0  # N·m·s/rad
SENSOR_MASS = 0.3  # kg, of a force-torque sensor at the wrist


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
            limited=mujoco.mjtLimited.mjLIMITED_TRUE,
            range=joint.range,
            armature=ARMATURE,
            damping=[DAMPING, 0, 0],
        )
        _add_tubes(body, joint.tubes, joint.mass)
        actuator = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=joint.stiffness, kv=joint.damping)
        actuator.forcelimited = True
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
