"""Fixed frames of the description: origins, fixed joints, and where the camera is."""

from __future__ import annotations

import numpy as np

from spca_core.geometry import Array, Pose
from spca_core.world import World
from spca_robot.description.names import BASE_LINK, CAMERA_LINK, OPTICAL_FRAME
from spca_robot.description.xml import Element, add, xyz_rpy

# A camera's body frame (REP-103: x forward, y left, z up) in its optical frame (x right, y down, z forward).
BODY_IN_OPTICAL: Array = np.array(
    [[0.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)


def base_pose(world: World) -> Array:
    """Return the pose (4×4) of the robot's base in `world`."""
    base = world.robot.base
    return Pose.from_xyz_yaw(*base.position, base.yaw).matrix()


def camera_link_pose(world: World) -> Array:
    """Return the pose (4×4) of the camera's body in `world`.

    Gazebo's cameras look along +x of their link, not along +z.
    """
    return world.camera.pose.matrix() @ BODY_IN_OPTICAL


def add_camera_frames(robot: Element, world: World) -> None:
    """Add `camera_link` and `camera_color_optical_frame`, which stand still in `world`.

    They hang on the robot's base: sdformat 14 refuses a chain of links without mass that hangs on `world`
    itself.
    """
    for frame in (CAMERA_LINK, OPTICAL_FRAME):
        add(robot, "link", name=frame)
    in_base = np.linalg.inv(base_pose(world)) @ camera_link_pose(world)
    add_fixed_joint(robot, f"{BASE_LINK}_{CAMERA_LINK}", BASE_LINK, CAMERA_LINK, in_base)
    optical: Array = np.linalg.inv(BODY_IN_OPTICAL).astype(float)
    add_fixed_joint(robot, f"{CAMERA_LINK}_{OPTICAL_FRAME}", CAMERA_LINK, OPTICAL_FRAME, optical)


def add_fixed_joint(robot: Element, name: str, parent: str, child: str, pose: Array) -> None:
    """Add a fixed joint; `pose` (4×4) is that of the child in the parent."""
    joint = add(robot, "joint", name=name, type="fixed")
    add(joint, "parent", link=parent)
    add(joint, "child", link=child)
    add_origin(joint, pose)


def add_origin(parent: Element, pose: Array) -> None:
    """Add an `<origin>` that a 4×4 matrix describes."""
    xyz, rpy = xyz_rpy(pose)
    add(parent, "origin", xyz=xyz, rpy=rpy)
