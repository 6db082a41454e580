"""Poses, rotations, angles and curves: the conventions in the docstrings, and what SciPy says of the same."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.spatial.transform import Rotation

from spca_core.geometry import Pose, Quat, matrix_of_vector, vector_of_matrix, wrap_angle
from spca_core.trajectory import PiecewiseCubic

components = st.floats(-1, 1).map(lambda v: round(v, 6))
quaternions = (
    st.tuples(*[components] * 4)
    .filter(lambda v: np.linalg.norm(v) > 0.1)
    .map(lambda v: tuple(float(part) for part in np.array(v) / np.linalg.norm(v)))
)


def turned_by(a: float, b: float) -> float:
    """The angle between two headings, 0 to π."""
    return abs((a - b + math.pi) % (2 * math.pi) - math.pi)


@given(quaternions)
def test_quaternions_and_vectors_agree_with_scipy(quaternion: Quat) -> None:
    """Quaternions are (x, y, z, w)."""
    theirs = Rotation.from_quat(quaternion)
    pose = Pose(position=(1, 2, 3), quaternion=quaternion)
    matrix = pose.matrix()[:3, :3]
    assert matrix == pytest.approx(theirs.as_matrix(), abs=1e-9)
    assert pose.matrix()[:, 3] == pytest.approx([1, 2, 3, 1])
    back = Pose.from_matrix(pose.matrix())
    assert back.position == pose.position and back.matrix() == pytest.approx(pose.matrix(), abs=1e-9)
    assert matrix_of_vector(vector_of_matrix(matrix)) == pytest.approx(matrix, abs=1e-7)
    assert np.linalg.norm(vector_of_matrix(matrix)) == pytest.approx(theirs.magnitude(), abs=1e-7)


@given(quaternions)
@example(Pose.from_xyz_yaw(0, 0, 0, -math.pi).quaternion)  # a negative zero on the way would give -π
@example((-0.0, 0.0, 1.0, -0.0))
def test_yaw_is_that_of_the_rotation_and_in_range(quaternion: Quat) -> None:
    pose = Pose(position=(0, 0, 0), quaternion=quaternion)
    assert -math.pi < pose.yaw <= math.pi
    m = pose.matrix()
    assume(np.hypot(m[0, 0], m[1, 0]) > 1e-3)  # else x points up or down and has no heading
    assert turned_by(pose.yaw, math.atan2(m[1, 0], m[0, 0])) < 1e-9


@given(st.floats(-1e3, 1e3), st.sampled_from((2 * math.pi, math.pi / 2)))
@example(math.nextafter(-math.pi, -4), 2 * math.pi)  # `%` alone rounds these up to the end of the range
def test_wrapped_angles_lie_in_one_period(angle: float, period: float) -> None:
    wrapped = wrap_angle(angle, period)
    assert -period / 2 <= wrapped < period / 2
    turns = (angle - wrapped) / period
    assert turns == pytest.approx(round(turns), abs=1e-9), "only whole periods are taken off"


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
