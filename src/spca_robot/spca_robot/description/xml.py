"""Files for ROS tools from templates (`files/`), and the numbers and poses in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from spca_core.geometry import Array, Pose
from spca_core.world import World
from spca_robot.description.names import CONTACT_TOPIC, camera_topic, collision_names

_FILES = Path(__file__).with_name("files")
_UPRIGHT = 1e-9  # share of the x axis that is level, below which it counts as upright


def filled(name: str, folder: Path = _FILES, **values: Any) -> str:
    """Return the text of a folder's template `NAME.j2` with these values.

    In XML, numbers and sequences of numbers become text that reads back to 1e-9.
    """
    return _templates(folder, name.endswith("yaml")).get_template(f"{name}.j2").render(values)


@cache
def _templates(folder: Path, plain: bool) -> Environment:
    made = Environment(
        loader=FileSystemLoader([folder, _FILES]),
        undefined=StrictUndefined,
        autoescape=not plain,
        finalize=None if plain else _text,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update(contact_topic=CONTACT_TOPIC, xyz_rpy=xyz_rpy, collision_names=collision_names)
    made.globals.update(camera_topic=camera_topic, atan=math.atan)
    return made


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


def _text(value: object) -> object:
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, (tuple, list, np.ndarray)):
        return numbers(np.asarray(value, dtype=float))
    return value


def _number(value: float) -> str:
    return f"{round(value, 12) + 0.0:.12g}"


# A camera's body frame (REP-103: x forward, y left, z up) in its optical frame (x right, y down, z forward).
BODY_IN_OPTICAL: Array = np.array(
    [[0.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)


def frames(world: World) -> dict[str, Any]:
    """Return the poses (4×4) of the robot's base in `world`, of the cameras' bodies, and of optical frames.

    Gazebo's cameras look along +x of their link, not along +z.
    """
    base = Pose.from_xyz_yaw(*world.robot.base.position, world.robot.base.yaw).matrix()
    return {
        "base": base,
        "camera_in_base": np.linalg.inv(base) @ world.camera.pose.matrix() @ BODY_IN_OPTICAL,
        "wrist_in_tool0": world.wrist_camera and world.wrist_camera.pose.matrix() @ BODY_IN_OPTICAL,
        "optical_in_body": np.linalg.inv(BODY_IN_OPTICAL),
    }
