"""The description of an arm: one file of data, from which kinematics, physics, URDF and limits are made.

SI units. A world names its arm, and `NAME@ARM` names a world with another one: `tabletop@ur5e`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from spca_core.extensions import find
from spca_core.geometry import Array, Vec3
from spca_core.model import Interval, Part
from spca_core.validation import YAML_FILES, expecting, read_yaml

GROUP = "spca.arms"
Joints = tuple[float, ...]
Convention = Literal["standard", "modified"]
# The chains whose inverse kinematics are known in closed form, each by its Denavit-Hartenberg convention: of
# each joint alpha (rad), whether it has an a, whether it has a d.
_Q = np.pi / 2
_CHAINS: dict[Convention, tuple[tuple[float, bool, bool], ...]] = {
    "standard": (
        *((_Q, False, True), (0.0, True, False), (0.0, True, False)),
        *((_Q, False, True), (-_Q, False, True), (0.0, False, True)),
    ),
    "modified": (
        *((0.0, False, True), (-_Q, False, False), (_Q, False, True), (_Q, True, False)),
        *((-_Q, True, True), (_Q, False, False), (_Q, True, False)),
    ),
}
_LIKE = {"standard": "axes two to four are parallel, as a UR's", "modified": "a Panda's chain"}


class Tube(Part):
    """A cylinder of a link from `start` to `end`, in the frame of the link's body (metres)."""

    start: Vec3
    end: Vec3
    radius: float = Field(gt=0)
    blue: bool = False
    """The tube is drawn in blue, as the caps of the joints are; otherwise in grey."""


class ArmBase(Part):
    """Base that the first joint stands on."""

    mass: float = Field(gt=0)
    tubes: tuple[Tube, ...]


class ArmJoint(Part):
    """A joint with its row of the Denavit-Hartenberg table, its limits, its servo and the link it turns.

    T_{i-1,i} = Rz(q) · Tz(d) · Tx(a) · Rx(alpha) in the standard convention; in the modified one (Craig's)
    Rx(alpha) · Tx(a) · Rz(q) · Tz(d), where alpha and a are those of the link before.
    """

    name: str
    """Name of the joint in messages and in the URDF."""
    link: str
    """Name of the link in the URDF, ending in `_link`; messages leave out that ending."""
    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    range: Interval
    """Range of the joint's angle, in radians."""
    velocity: float = Field(gt=0)
    """Maximum velocity, in rad/s."""
    acceleration: float = Field(gt=0)
    """Maximum acceleration of planned motions, in rad/s²."""
    braking: float = Field(gt=0)
    """Deceleration (rad/s²) when the arm is commanded to hold; `torque` must suffice for it."""
    torque: float = Field(gt=0)
    """Maximum torque of the servo, in N·m."""
    stiffness: float = Field(gt=0)
    """Stiffness of the position servo, in N·m/rad: torque = stiffness·(command - q) - damping·q̇."""
    damping: float = Field(gt=0)
    """Damping of the position servo, in N·m·s/rad."""
    mass: float = Field(gt=0)
    """Mass of the link, in kg."""
    tubes: tuple[Tube, ...] = Field(min_length=1)
    """Cylinders that contain the link: a configuration that is free for them is free for the real arm."""


class ArmDescription(Part):
    """An arm of six or seven joints, base to wrist.

    Frames. With `half_turn` the first Denavit-Hartenberg frame stands half a turn from the mount (ROS
    `base_link`, REP-103): so that a UR, stretched along its own -x at q = 0, stretches along +x of the mount.
    `tool0` lies on the flange's face, z pointing out of it: the last frame of the standard convention, the
    last joint's moved by `flange` along its axis in the modified one.
    """

    name: str
    title: str
    """Name of the arm for people, with its maker."""
    dh: Convention = "standard"
    half_turn: bool = False
    flange: float = 0.0
    """Distance from the last joint's frame to the flange's face along the joint's axis, in metres."""
    base: ArmBase
    joints: tuple[ArmJoint, ...]
    home: Joints
    """Joint angles of the home configuration, in radians."""
    out_of_view: Joints
    """Joint angles (rad) at which the arm waits while the camera looks; those of `home` unless given."""

    @model_validator(mode="before")
    @classmethod
    def _waits_at_home(cls, given: Any) -> Any:
        return {"out_of_view": given.get("home"), **given} if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _plausible(self) -> ArmDescription:
        chain = _CHAINS[self.dh]
        if len(self.joints) != len(chain):
            told = f"joints: {len(chain)} are needed with {self.dh} DH rows, not {len(self.joints)}"
            raise ValueError(told)
        for joint, (twist, long, deep) in zip(self.joints, chain, strict=True):
            if abs(joint.alpha - twist) > 1e-9 or (joint.a != 0) != long or (joint.d != 0) != deep:
                row = f"alpha {twist:.4f}, {'an' if long else 'no'} a and {'a' if deep else 'no'} d"
                raise ValueError(f"{joint.link} needs {row}: {_LIKE[self.dh]}")
        for name in ("home", "out_of_view"):
            if len(getattr(self, name)) != len(chain):
                raise ValueError(f"{name} needs {len(chain)} angles")
            for joint, angle in zip(self.joints, getattr(self, name), strict=True):
                if not joint.range[0] <= angle <= joint.range[1]:
                    raise ValueError(f"{name} turns {joint.link} to {angle:.2f} rad, beyond its range")
        return self

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in messages and in the URDF."""
        return tuple(joint.name for joint in self.joints)

    @property
    def offsets(self) -> Array:
        """The constant transforms before each joint's turn about z, and behind the last: (n + 1, 4, 4)."""
        mount = np.diag([-1.0, -1.0, 1.0, 1.0]) if self.half_turn else np.eye(4)
        if self.dh == "standard":
            return np.array([mount, *(_tz(j.d) @ _rx_tx(j.alpha, j.a) for j in self.joints)])
        rows = [_rx_tx(j.alpha, j.a) @ _tz(j.d) for j in self.joints]
        return np.array([mount @ rows[0], *rows[1:], _tz(self.flange)])

    def column(self, name: str) -> Array:
        """Return the figure of that name for every joint, as an array: (n,), or (n, 2) for `range`."""
        return np.array([getattr(joint, name) for joint in self.joints])


def _rx_tx(alpha: float, a: float) -> Array:
    c, s = np.cos(alpha), np.sin(alpha)
    return np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def _tz(d: float) -> Array:
    return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, d], [0, 0, 0, 1.0]])


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
