"""Small helpers to write URDF, SRDF and SDF as element trees, and files for ROS tools from templates."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from spca_core.geometry import Array, Pose
from spca_core.world import World
from spca_robot.description.names import BASE_LINK, CAMERA_LINK, OPTICAL_FRAME

Element = ET.Element
_UPRIGHT = 1e-9  # share of the x axis that is level, below which it counts as upright


def add(parent: Element, tag: str, text: object = None, **attributes: object) -> Element:
    """Add a child and return it. Numbers and sequences of numbers become text that reads back to 1e-9."""
    child = ET.SubElement(parent, tag, {name: _text(value) for name, value in attributes.items()})
    if text is not None:
        child.text = _text(text)
    return child


def numbers(values: Sequence[float] | Array) -> str:
    """Return numbers as text, `x y z`.

    >>> numbers([1.0, -0.0, 0.05])
    '1 0 0.05'
    """
    return " ".join(_number(float(v)) for v in values)


def xyz_rpy(pose: Array) -> tuple[str, str]:
    """Return the position of a 4×4 matrix, and its roll, pitch, yaw about fixed axes, as URDF and SDF do."""
    (a, _, _), (d, e, f), (g, h, i) = pose[:3, :3].tolist()
    level = math.hypot(a, d)
    upright = level < _UPRIGHT  # at pitch ±π/2 any split of roll and yaw will do
    roll, yaw = (math.atan2(-f, e), 0.0) if upright else (math.atan2(h, i), math.atan2(d, a))
    return numbers(pose[:3, 3]), numbers([roll, math.atan2(-g, level), yaw])


def document(root: Element, comment: str = "") -> str:
    """Return the finished text of an XML file."""
    ET.indent(root)
    head = f"<!-- {comment} -->\n" if comment else ""
    return f'<?xml version="1.0"?>\n{head}{ET.tostring(root, encoding="unicode")}\n'


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, (tuple, list, np.ndarray)):
        return numbers(np.asarray(value, dtype=float))
    return str(value)


def _number(value: float) -> str:
    return f"{round(value, 12) + 0.0:.12g}"


_FILES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("files")),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def filled(name: str, **values: object) -> str:
    """Return the text of `files/NAME.j2` with these values."""
    return _FILES.get_template(f"{name}.j2").render(values)


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
