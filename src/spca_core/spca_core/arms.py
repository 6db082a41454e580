"""The description of an arm: one file of data, from which kinematics, physics, URDF and limits are made.

SI units. A world names its arm, and `NAME@ARM` names a world with another one: `tabletop@ur5e`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from spca_core.extensions import find
from spca_core.geometry import Array, Vec3
from spca_core.model import Interval, Part
from spca_core.validation import YAML_FILES, expecting, read_yaml

GROUP = "spca.arms"
Joints = tuple[float, float, float, float, float, float]
# The rotations about the links of an arm whose inverse kinematics are known in closed form, rad.
_TWISTS = (np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0)


class Tube(Part):
    """A cylinder of a link from `start` to `end`, in the frame of the link's body (metres)."""

    start: Vec3
    end: Vec3
    radius: float = Field(gt=0)
    blue: bool = False
    """Drawn in blue, as the caps of the joints are, else in grey."""


class ArmBase(Part):
    """What the first joint stands on."""

    mass: float = Field(gt=0)
    tubes: tuple[Tube, ...]


class ArmJoint(Part):
    """A joint with its row of the Denavit-Hartenberg table, its limits, its servo and the link it turns.

    T_{i-1,i} = Rz(q) · Tz(d) · Tx(a) · Rx(alpha).
    """

    link: str
    """Its name in the URDF: what a message calls it, with `_link` at the end."""
    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    range: Interval
    """rad"""
    velocity: float = Field(gt=0)
    """rad/s"""
    acceleration: float = Field(gt=0)
    """rad/s²; of planned motions"""
    braking: float = Field(gt=0)
    """Deceleration (rad/s²) when the arm is commanded to hold; `torque` must suffice for it."""
    torque: float = Field(gt=0)
    """N·m"""
    stiffness: float = Field(gt=0)
    """N·m/rad of the position servo: torque = stiffness·(command - q) - damping·q̇."""
    damping: float = Field(gt=0)
    """N·m·s/rad of the position servo."""
    mass: float = Field(gt=0)
    """kg, of the link"""
    tubes: tuple[Tube, ...] = Field(min_length=1)
    """They contain the link: a configuration that is free for them is free for the real arm."""

    @property
    def constant(self) -> Array:
        """The constant part of the joint's transform, Tz(d) · Tx(a) · Rx(alpha), 4×4."""
        c, s = np.cos(self.alpha), np.sin(self.alpha)
        return np.array([[1, 0, 0, self.a], [0, c, -s, 0], [0, s, c, self.d], [0, 0, 0, 1.0]])


class ArmDescription(Part):
    """An arm of six joints, base to wrist, in the order of `spca_core.trajectory.JOINT_NAMES`.

    Frames. The DH base frame has the arm stretched along its -x at q = 0. ROS (`base_link`, REP-103) and this
    project turn it by half a turn, so that the arm stretches along +x of the mount. `tool0` is DH frame 6, on
    the flange's face, z pointing out of it.
    """

    name: str
    title: str
    """With its maker, for people."""
    base: ArmBase
    joints: Annotated[tuple[ArmJoint, ...], Field(min_length=6, max_length=6)]
    home: Joints
    """rad"""
    out_of_view: Joints
    """Where the arm waits while the camera looks (rad): nothing of it above the work area."""

    @model_validator(mode="after")
    def _plausible(self) -> ArmDescription:
        for i, (joint, twist) in enumerate(zip(self.joints, _TWISTS, strict=True)):
            long = i in (1, 2)
            if abs(joint.alpha - twist) > 1e-9 or (joint.a != 0) != long or (joint.d != 0) == long:
                row = f"alpha {twist:.4f} and " + ("an a, no d" if long else "a d, no a")
                raise ValueError(f"{joint.link} needs {row}: axes two to four are parallel, as a UR's")
        for name in ("home", "out_of_view"):
            for joint, angle in zip(self.joints, getattr(self, name), strict=True):
                if not joint.range[0] <= angle <= joint.range[1]:
                    raise ValueError(f"{name} turns {joint.link} to {angle:.2f} rad, beyond its range")
        return self

    def column(self, name: str) -> Array:
        """One figure of every joint as an array: (6,), or (6, 2) for `range`."""
        return np.array([getattr(joint, name) for joint in self.joints])


def load_arm(name_or_path: str | Path) -> ArmDescription:
    """Read and check an arm by the name of its entry point or by path. Raises InputError with one clear line.

    An entry of the group `spca.arms` names the folder (a `Path`) in which `NAME.yaml` lies.
    """
    path = Path(name_or_path)
    if path.suffix not in YAML_FILES:
        plugin = find(GROUP, str(name_or_path))
        with expecting("the folder of an arm's file", f"{plugin.package} ({plugin.target})"):
            path = Path(plugin.load()) / f"{name_or_path}.yaml"
    with expecting("an arm", path):
        changed = path.stat()
        return _read_arm(path, changed.st_mtime_ns, changed.st_size)


@lru_cache(maxsize=16)
def _read_arm(path: Path, _changed: int, _size: int) -> ArmDescription:
    content: Any = read_yaml(path, "the arm")
    if isinstance(content, dict):
        content = {**content, "name": path.stem}
    return ArmDescription.model_validate(content)
