"""Poses, rotations, angles and curves: the conventions in the docstrings, and what SciPy says of the same."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.spatial.transform import Rotation, Slerp

from spca_core.geometry import (
    Pose,
    Quat,
    about_z,
    aligning,
    matrix_of_quaternion,
    matrix_of_vector,
    top_down,
    top_down_yaw,
    vector_of_matrix,
    wrap_angle,
)
from spca_core.trajectory import PiecewiseCubic

PERIODS = (2 * math.pi, math.pi, math.pi / 2)
lengths = st.floats(-10, 10)
angles = st.floats(-1e3, 1e3)
yaws = st.floats(-math.pi, math.pi, exclude_min=True)


components = st.floats(-1, 1).map(lambda v: round(v, 6))


@st.composite
def quaternions(draw: st.DrawFn) -> Quat:
    raw = np.array([draw(components) for _ in range(4)])
    norm = float(np.linalg.norm(raw))
    assume(norm > 0.1)
    x, y, z, w = (float(v) for v in raw / norm)
    return x, y, z, w


directions = (
    st.tuples(components, components, components).filter(lambda v: np.linalg.norm(v) > 0.1).map(np.array)
)


def turned_by(a: float, b: float) -> float:
    """The angle between two headings, 0 to π."""
    return abs((a - b + math.pi) % (2 * math.pi) - math.pi)


@given(quaternions())
def test_quaternions_and_vectors_agree_with_scipy(quaternion: Quat) -> None:
    """Quaternions are (x, y, z, w)."""
    theirs = Rotation.from_quat(quaternion)
    pose = Pose(position=(1, 2, 3), quaternion=quaternion)
    matrix = pose.matrix()[:3, :3]
    assert matrix == pytest.approx(theirs.as_matrix(), abs=1e-9)
    assert pose.matrix()[:, 3] == pytest.approx([1, 2, 3, 1])
    back = Pose.from_matrix(pose.matrix())
    assert back.position == pose.position and back.matrix() == pytest.approx(pose.matrix(), abs=1e-9)
    assert np.linalg.norm(back.quaternion) == pytest.approx(1.0)
    assert matrix_of_vector(vector_of_matrix(matrix)) == pytest.approx(matrix, abs=1e-7)
    assert np.linalg.norm(vector_of_matrix(matrix)) == pytest.approx(theirs.magnitude(), abs=1e-7)


@given(quaternions(), quaternions())
def test_a_share_of_the_turn_between_two_rotations_is_the_slerp(start, goal):
    a, b = matrix_of_quaternion(start), matrix_of_quaternion(goal)
    turn = vector_of_matrix(a.T @ b)
    if np.linalg.norm(turn) > np.pi - 1e-3:
        return  # half turns go either way
    share = np.linspace(0, 1, 5)
    theirs = Slerp([0, 1], Rotation.from_matrix([a, b]))(share).as_matrix()
    assert a @ matrix_of_vector(share[:, None] * turn) == pytest.approx(theirs, abs=1e-6)


@given(directions, directions)
def test_aligning_turns_one_direction_into_the_other_by_the_least_angle(start, goal):
    turn = aligning(start, goal)
    a, b = start / np.linalg.norm(start), goal / np.linalg.norm(goal)
    assert turn @ a == pytest.approx(b, abs=1e-7)
    assert np.linalg.norm(vector_of_matrix(turn)) == pytest.approx(np.arccos(np.clip(a @ b, -1, 1)), abs=1e-6)


def test_opposite_directions_are_aligned_by_a_half_turn_and_turns_about_z_are_scipy_s():
    up = np.array([0.0, 0.0, 1.0])
    assert aligning(up, -up) @ up == pytest.approx(-up)
    assert aligning(up, up) == pytest.approx(np.eye(3))
    assert about_z(0.7) == pytest.approx(Rotation.from_euler("z", 0.7).as_matrix())


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


@given(st.integers(4, 30), st.integers(0, 10_000))
def test_cubic_curves_agree_with_scipy(n, seed):
    rng = np.random.default_rng(seed)
    values, slopes = rng.normal(size=(2, n, 6))
    knots = np.concatenate([[0.0], np.cumsum(rng.uniform(0.1, 1, n - 1))])
    at = np.linspace(0.0, knots[-1], 50)
    ours, theirs = PiecewiseCubic(knots, values, slopes), CubicHermiteSpline(knots, values, slopes)
    smooth, reference = PiecewiseCubic.smooth(values), CubicSpline(np.linspace(0, 1, n), values, axis=0)
    for order in range(2):
        assert ours(at, order) == pytest.approx(theirs(at, order), abs=1e-9)
    for order in range(3):
        inner = np.linspace(0, 1, 41)
        expected = reference(inner, order)
        assert smooth(inner, order) == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())
