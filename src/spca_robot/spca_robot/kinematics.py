"""Kinematics of an arm from its description, and of the tool centre point (TCP); metres and radians.

Inverse kinematics is in closed form, with one solver for each kind of chain, all of one form. Everything is
vectorised over leading dimensions, and written with `atan2` where `acos` would lose digits near a
singularity.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from spca_core.arms import ArmDescription
from spca_core.geometry import Array, Pose, top_down
from spca_core.world import World
from spca_robot.gripper_2f85 import tcp_offset
from spca_robot.workspace_model import tool0

_TURN = 2 * np.pi
BRANCHES = 8
"""Number of branches along the last axis but one: shoulder left/right × wrist up/down × elbow up/down."""
ROUNDING = 1e-7
"""Relative tolerance of limits against rounding, for a target at full stretch or a joint at ±2π."""

_SHOULDER, _WRIST, _ELBOW = np.array([*product((1.0, -1.0), repeat=3)]).T
# Below this sine of the angle between two axes they count as parallel, and the split between them is free.
_PARALLEL = 1e-8
_FREE_ANGLES = 25  # of a redundant joint: some 13° apart


class ArmKinematics:
    """Forward and inverse kinematics of one arm: its flange (`tool0`) in `base_link`."""

    def __init__(self, arm: ArmDescription) -> None:
        self._offsets = arm.offsets
        self._inverse = ParallelAxes(arm) if arm.dh == "standard" else SphericalShoulder(arm)
        self.range = arm.column("range")
        """Lowest and highest position of each joint in radians, (n, 2)."""
        self.redundant = len(arm.joints) > 6
        """A pose leaves the last joint free."""
        self.elbow = (len(arm.joints) - 1) // 2
        """Index of the joint that folds the arm, counted from 0."""

    def link_frames(self, joints: ArrayLike) -> Array:
        """Compute the link frames, the flange last, in `base_link`: (…, n, 4, 4) for joints (…, n).

        These are the Denavit-Hartenberg frames 1 … n of the standard convention.
        """
        q = np.asarray(joints, dtype=float)[..., None]
        c, s, behind = np.cos(q), np.sin(q), self._offsets[1:]
        step = np.empty((*q.shape[:-1], 4, 4))
        step[..., 0, :] = c * behind[:, 0] - s * behind[:, 1]
        step[..., 1, :] = s * behind[:, 0] + c * behind[:, 1]
        step[..., 2:, :] = behind[:, 2:]
        step[..., 0, :, :] = self._offsets[0] @ step[..., 0, :, :]
        for link in range(1, len(behind)):
            step[..., link, :, :] = step[..., link - 1, :, :] @ step[..., link, :, :]
        return step

    def forward(self, joints: ArrayLike) -> Array:
        """Return the flange in `base_link`: (…, 4, 4) for joints of shape (…, n)."""
        return self.link_frames(joints)[..., -1, :, :]

    def inverse_branches(self, flange: ArrayLike, last: ArrayLike | None = None) -> Array:
        """Return all branches (…, 8·k, n) of inverse kinematics for flange poses (…, 4, 4) in `base_link`.

        Joints lie in (-π, π], NaN where a branch has no solution. `last` (…, k) are the angles of the last
        joint to try where the pose leaves it free.
        """
        free = self._inverse.free if last is None else np.atleast_1d(np.asarray(last, dtype=float))
        joints = self._inverse(np.asarray(flange, dtype=float), free)
        joints[np.isnan(joints).any(axis=-1)] = np.nan
        return np.pi - (np.pi - joints) % _TURN

    def nearest_turns(self, solutions: ArrayLike, reference: ArrayLike) -> Array:
        """Return the solutions (…, n), each joint unwrapped to be as near `reference` (n,) as limits allow.

        A joint that no number of turns brings within its limits makes its solution NaN.
        """
        low, high = self.range.T
        near = np.asarray(reference, dtype=float) + wrap(np.asarray(solutions, dtype=float) - reference)
        near = near - _TURN * np.ceil((near - high) / _TURN - ROUNDING).clip(min=0)
        near = near + _TURN * np.ceil((low - near) / _TURN - ROUNDING).clip(min=0)
        reached = np.clip(near, low, high)
        reached[(np.abs(reached - near) > 2 * ROUNDING * _TURN).any(axis=-1)] = np.nan
        return reached


def wrap(angles: ArrayLike) -> Array:
    """Return angles (rad) brought into [-π, π)."""
    return (np.asarray(angles, dtype=float) + np.pi) % _TURN - np.pi


class ParallelAxes:
    """Arms of Universal Robots, of six joints: the axes of joints 2, 3 and 4 are parallel.

    See e.g. Hawkins, "Analytic inverse kinematics for the Universal Robots UR-5/UR-10 arms", 2013: the
    wrist's position leaves two choices of the shoulder, the flange's direction two of the wrist, and a planar
    two-link arm two of the elbow.
    """

    def __init__(self, arm: ArmDescription) -> None:
        self.free = np.zeros(1)
        """Angles (k,) of the last joint to try where nothing else says at which one it is to be."""
        self._a, self._d = arm.column("a"), arm.column("d")
        self._to_dh = arm.offsets[0][:3, :3]

    def __call__(self, flange: Array, last: Array) -> Array:
        """Return the branches (…, 8·k, n) for flange poses (…, 4, 4), NaN where one has no solution.

        The last joint is put at `last` (…, k) where the pose leaves it free: everywhere for an arm of seven
        joints; at a singularity for one of six, at the first of its angles. A branch keeps its place as the
        pose varies.
        """
        a, d = self._a, self._d
        target = (self._to_dh @ flange[..., :3, :])[..., None, :, :]
        x6, y6, z6 = target[..., 0], target[..., 1], target[..., 2]
        frame5 = target[..., 3] - d[5] * z6

        # Shoulder: the centre of frame 5 lies at the distance d4 from the vertical plane in which upper and
        # forearm move.
        radius_sq = frame5[..., 0] ** 2 + frame5[..., 1] ** 2
        slack = _root(radius_sq - d[3] ** 2, scale=d[3] ** 2)
        q1 = np.arctan2(frame5[..., 1], frame5[..., 0]) + _SHOULDER * np.arctan2(slack, d[3]) + np.pi / 2
        c1, s1 = np.cos(q1), np.sin(q1)

        # Wrist 2 and 3: the direction z1 of the parallel axes, as seen from the flange.
        along_x, along_y, along_z = (s1 * v[..., 0] - c1 * v[..., 1] for v in (x6, y6, z6))
        sine5 = np.hypot(along_x, along_y)
        q5 = np.arctan2(_WRIST * sine5, along_z)
        q6 = np.where(sine5 > _PARALLEL, np.arctan2(-_WRIST * along_y, _WRIST * along_x), last[..., :1])
        c6, s6 = np.cos(q6)[..., None], np.sin(q6)[..., None]
        z4 = -(s6 * x6 + c6 * y6)  # the axis of wrist 2

        # Elbow: a two-link arm from the shoulder to frame 3, in the plane of (c1, s1) and the vertical.
        frame4 = frame5 - d[4] * z4
        out = c1 * frame4[..., 0] + s1 * frame4[..., 1]
        up = frame4[..., 2] - d[0]
        twice = 2 * a[1] * a[2]
        cosine3 = (out**2 + up**2 - a[1] ** 2 - a[2] ** 2) / twice
        q3 = np.arctan2(_ELBOW * _root(1.0 - cosine3**2, scale=1.0), cosine3)
        q2 = np.arctan2(up, out) - np.arctan2(a[2] * np.sin(q3), a[1] + a[2] * np.cos(q3))
        q234 = np.arctan2(c1 * z4[..., 0] + s1 * z4[..., 1], -z4[..., 2])
        return np.stack([q1, q2, q3, q234 - q2 - q3, q5, q6], axis=-1)


class SphericalShoulder:
    """Franka's arms, of seven joints: the axes of joints 1 to 3 meet in a point, and those of 5 and 6.

    After He and Liu, "Analytical inverse kinematics for Franka Emika Panda", 2021, with joint 7 as the
    parameter: it fixes the wrist's centre, the distance from there to the shoulder leaves two choices of the
    elbow, the forearm's direction two of joint 6, and the upper arm's two of the shoulder.
    """

    def __init__(self, arm: ArmDescription) -> None:
        self.free = np.linspace(*arm.joints[-1].range, _FREE_ANGLES)
        (_, _, _, self._a4, self._a5, _, self._a7), d = arm.column("a"), arm.column("d")
        self._d1, self._d3, self._d5, self._flange = d[0], d[2], d[4], arm.flange
        self._base = np.linalg.inv(arm.offsets[0])[:3, :3]

    def __call__(self, flange: Array, last: Array) -> Array:
        """See `ParallelAxes`."""
        target = (self._base @ flange[..., :3, :])[..., None, :, :]
        q7 = np.repeat(np.broadcast_to(last, (*flange.shape[:-2], last.shape[-1])), BRANCHES, axis=-1)
        count = q7.shape[-1] // BRANCHES
        shoulder, wrist, elbow = (np.tile(sign, count) for sign in (_SHOULDER, _WRIST, _ELBOW))
        c7, s7 = np.cos(q7)[..., None], np.sin(q7)[..., None]

        # Frame 6: joint 7 turns about z7, and x6 is x7 turned back.
        x6 = c7 * target[..., 0] - s7 * target[..., 1]
        y6 = -np.broadcast_to(target[..., 2], x6.shape)
        z6 = s7 * target[..., 0] + c7 * target[..., 1]
        centre = target[..., 3] + self._flange * y6 - self._a7 * x6
        back = np.array([0.0, 0.0, self._d1]) - centre  # from the wrist's centre to the shoulder's

        # Elbow: a triangle with the sides |d3, a4| and |d5, a5|, folded by joint 4.
        upper, lower = np.hypot(self._d3, self._a4), np.hypot(self._d5, self._a5)
        cosine = (upper**2 + lower**2 - (back**2).sum(axis=-1)) / (2 * upper * lower)
        fold = np.arctan2(elbow * _root(1.0 - cosine**2, scale=1.0), cosine)
        q4 = np.arctan2(self._d3, self._a4) + np.arctan2(self._d5, -self._a5) - fold
        c4, s4 = np.cos(q4), np.sin(q4)

        # Joint 6: the shoulder as seen from the wrist, `near` along x and `along` the axis of joint 5, before
        # that turns.
        near = -self._a5 - self._a4 * c4 - self._d3 * s4
        along = -self._d5 + self._a4 * s4 - self._d3 * c4
        on_x, on_y = _dot(back, x6), _dot(back, y6)
        across = _root(on_x**2 + on_y**2 - along**2, scale=along**2 + near**2)
        q6 = np.arctan2(on_x, on_y) + wrist * np.arctan2(across, along)
        c6, s6 = np.cos(q6)[..., None], np.sin(q6)[..., None]
        x5, z5 = c6 * x6 - s6 * y6, s6 * x6 + c6 * y6
        q5 = np.arctan2(near * _dot(back, z6), near * _dot(back, x5))
        c5, s5 = np.cos(q5)[..., None], np.sin(q5)[..., None]

        # Shoulder: joints 1 to 3 turn about z, y and z.
        x4, c4, s4 = c5 * x5 + s5 * z6, c4[..., None], s4[..., None]
        x3, y3, z3 = c4 * x4 - s4 * z5, s5 * x5 - c5 * z6, s4 * x4 + c4 * z5
        sine2 = np.hypot(z3[..., 0], z3[..., 1])
        split = sine2 > _PARALLEL
        q2 = np.arctan2(shoulder * sine2, z3[..., 2])
        x1, y1 = (np.where(split, shoulder * z3[..., i], z3[..., 2] * x3[..., i]) for i in (0, 1))
        q3 = np.where(split, np.arctan2(shoulder * y3[..., 2], -shoulder * x3[..., 2]), 0.0)
        return np.stack([np.arctan2(y1, x1), q2, q3, q4, q5, q6, q7], axis=-1)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1))


def _root(value: Array, scale: float | Array) -> Array:
    """Return the square root; 0 for what is negative by rounding only, NaN for what is truly negative."""
    return np.sqrt(np.where(value >= 0, value, np.where(value > -ROUNDING * scale, 0.0, np.nan)))


NOMINAL_GAP = 0.040


class ToolKinematics:
    """Forward and inverse kinematics of the TCP in `world`, for a robot mounted as the world says.

    The pads swing about 11 mm forward while they close from wide open to a 4 cm cube, so the TCP depends on
    the gap. The convention for every pose that an arm is asked for, and that it reports:

    * something attached: the TCP at the present gap;
    * otherwise: the TCP at the present gap or at `NOMINAL_GAP`, whichever is smaller. A tool pose around a
      cube, commanded with open fingers, is therefore where the pads will be once they have closed on it, and
      a pose commanded with closed fingers (to touch something) is where they are.

    Collisions are always checked with the fingers as they are.
    """

    def __init__(self, world: World) -> None:
        base = world.robot.base
        self.arm = ArmKinematics(world.robot.arm)
        self._mount = Pose.from_xyz_yaw(*base.position, base.yaw).matrix()
        self._unmount = np.linalg.inv(self._mount)
        self._tool0 = tool0(world.robot.wrist_sensor)
        self._flange = np.linalg.inv(self._tool0)

    def flange(self, joints: Array) -> Array:
        """Return `tool0` in `world`, (…, 4, 4), for joints (…, n)."""
        return self._mount @ self.arm.forward(joints) @ self._tool0

    def tool(self, joints: Array, gap: float) -> Array:
        """Return the TCP in `world` at a gap between the pads, (…, 4, 4), for joints (…, n)."""
        flange = self.flange(joints)
        flange[..., :3, 3] += tcp_offset(gap) * flange[..., :3, 2]
        return flange

    def branches(self, tools: Array, gap: float, last: Array | None = None) -> Array:
        """Return every joint solution (…, b, n) for TCP poses (…, 4, 4), NaN where there is none.

        `last` (…, k) are angles of the last joint where the pose leaves it free.
        """
        flange = np.array(tools)
        flange[..., :3, 3] -= tcp_offset(gap) * flange[..., :3, 2]
        return self.arm.inverse_branches(self._unmount @ flange @ self._flange, last)

    def reached(self, tools: Array, gap: float) -> Array:
        """Return for TCP poses (…, 4, 4) whether a configuration within the joints' ranges has each: (…)."""
        within = self.arm.nearest_turns(self.branches(tools, gap), self.arm.range.mean(axis=1))
        return np.asarray(np.isfinite(within[..., 0]).any(axis=-1))

    def reaches(self, x: float, y: float, z: float) -> bool:
        """Return whether some configuration has the tool at that point (m, in `world`), pointing down."""
        return bool(self.reached(top_down(x, y, z, 0.0).matrix(), NOMINAL_GAP))

    def farthest(self, tool: Array, gap: float = NOMINAL_GAP) -> float:
        """Return how far (m) from the base's axis the TCP gets in this pose's direction, turned as in it."""
        out = tool[:2, 3] - self._mount[:2, 3]
        away = 0.01 * np.arange(200)
        poses = np.repeat(tool[None], len(away), axis=0)
        poses[:, :2, 3] = self._mount[:2, 3] + away[:, None] * out / max(float(np.hypot(*out)), 1e-9)
        return float(away[self.reached(poses, gap)].max(initial=0.0))

    def excess(self, tool: Array, gap: float) -> float:
        """Return how far (m) this TCP pose is beyond the arm's reach in that direction; ≤ 0 if within it."""
        return math.dist(tool[:2, 3], self._mount[:2, 3]) - self.farthest(tool, gap)
