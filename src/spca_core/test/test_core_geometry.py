"""Poses and angles: the conventions in the docstrings, and round trips that must hold for any rotation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from spca_core.geometry import Pose, Quat, top_down, top_down_yaw, wrap_angle

PERIODS = (2 * math.pi, math.pi, math.pi / 2)
lengths = st.floats(-10, 10)
angles = st.floats(-1e3, 1e3)
yaws = st.floats(-math.pi, math.pi, exclude_min=True)


@st.composite
def quaternions(draw: st.DrawFn) -> Quat:
    raw = np.array([draw(st.floats(-1, 1)) for _ in range(4)])
    norm = float(np.linalg.norm(raw))
    assume(norm > 0.1)
    x, y, z, w = (float(v) for v in raw / norm)
    return x, y, z, w


poses = st.builds(Pose, position=st.tuples(lengths, lengths, lengths), quaternion=quaternions())


def turned_by(a: float, b: float) -> float:
    """The angle between two headings, 0 to π."""
    return abs((a - b + math.pi) % (2 * math.pi) - math.pi)


@given(poses)
def test_pose_to_matrix_and_back(pose: Pose) -> None:
    back = Pose.from_matrix(pose.matrix())
    assert back.position == pose.position
    # A rotation has two quaternions, q and -q.
    assert abs(np.dot(back.quaternion, pose.quaternion)) == pytest.approx(1.0)
    assert np.allclose(back.matrix(), pose.matrix(), atol=1e-9)


def test_quaternions_are_xyzw_and_frames_right_handed() -> None:
    h = math.sqrt(0.5)
    quarter = Pose(position=(1, 2, 3), quaternion=(0, 0, h, h)).matrix()
    assert quarter @ [1, 0, 0, 1] == pytest.approx([1, 3, 3, 1]), "x turns towards y"
    about_x = Pose(position=(0, 0, 0), quaternion=(h, 0, 0, h)).matrix()
    assert about_x @ [0, 1, 0, 1] == pytest.approx([0, 0, 1, 1]), "y turns towards z"
    assert Pose(position=(0, 0, 0)).matrix().tolist() == np.eye(4).tolist(), "no rotation unless said"


@given(lengths, lengths, lengths, angles)
def test_upright_poses(x: float, y: float, z: float, yaw: float) -> None:
    pose = Pose.from_xyz_yaw(x, y, z, yaw)
    assert pose.position == (x, y, z)
    assert np.linalg.norm(pose.quaternion) == pytest.approx(1.0)
    assert turned_by(pose.yaw, yaw) < 1e-9
    m = pose.matrix()
    assert m[:3, 2] == pytest.approx([0, 0, 1], abs=1e-12), "z stays up"
    assert m[:3, 0] == pytest.approx([math.cos(yaw), math.sin(yaw), 0], abs=1e-9)


@given(quaternions())
@example(Pose.from_xyz_yaw(0, 0, 0, -math.pi).quaternion)  # a negative zero on the way would give -π
@example((-0.0, 0.0, 1.0, -0.0))
@example((0.0, 0.0, 1.0, 0.0))
def test_yaw_is_that_of_the_rotation_and_in_range(quaternion: Quat) -> None:
    pose = Pose(position=(0, 0, 0), quaternion=quaternion)
    assert -math.pi < pose.yaw <= math.pi
    m = pose.matrix()
    assume(np.hypot(m[0, 0], m[1, 0]) > 1e-3)  # else x points up or down and has no heading
    assert turned_by(pose.yaw, math.atan2(m[1, 0], m[0, 0])) < 1e-9
    minus = Pose(position=(0, 0, 0), quaternion=tuple(-v for v in quaternion))
    assert turned_by(minus.yaw, pose.yaw) < 1e-9, "q and -q are one rotation"


@given(angles, st.sampled_from(PERIODS))
@example(math.nextafter(-math.pi, -4), 2 * math.pi)  # `%` alone rounds these up to the end of the range
@example(math.nextafter(-math.pi / 4, -1), math.pi / 2)
def test_wrapped_angles_lie_in_one_period(angle: float, period: float) -> None:
    wrapped = wrap_angle(angle, period)
    assert -period / 2 <= wrapped < period / 2
    turns = (angle - wrapped) / period
    assert turns == pytest.approx(round(turns), abs=1e-9), "only whole periods are taken off"
    assert wrap_angle(wrapped, period) == pytest.approx(wrapped, abs=1e-12)


@given(lengths, lengths, lengths, yaws)
def test_a_top_down_tool_points_down(x: float, y: float, z: float, yaw: float) -> None:
    pose = top_down(x, y, z, yaw)
    m = pose.matrix()
    assert pose.position == (x, y, z)
    assert m[:3, 2] == pytest.approx([0, 0, -1], abs=1e-9), "the fingers are along tool z"
    assert m[:3, 0] == pytest.approx([math.cos(yaw), math.sin(yaw), 0], abs=1e-9)
    assert np.linalg.det(m[:3, :3]) == pytest.approx(1.0)
    assert turned_by(top_down_yaw(pose), yaw) < 1e-9
