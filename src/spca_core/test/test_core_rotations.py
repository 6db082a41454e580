"""Rotations and cubic curves agree with SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.spatial.transform import Rotation, Slerp

from spca_core.geometry import (
    about_z,
    aligning,
    matrix_of_quaternion,
    matrix_of_vector,
    quaternion_of_matrix,
    vector_of_matrix,
)
from spca_core.trajectory import PiecewiseCubic

components = st.floats(-1, 1).map(lambda v: round(v, 6))
quaternions = (
    st.tuples(components, components, components, components)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: np.array(q) / np.linalg.norm(q))
)
components3 = st.tuples(components, components, components)
directions = components3.filter(lambda v: np.linalg.norm(v) > 0.1).map(np.array)


@given(quaternions)
def test_quaternions_and_vectors_agree_with_scipy(quaternion):
    theirs = Rotation.from_quat(quaternion)
    matrix = matrix_of_quaternion(quaternion)
    assert matrix == pytest.approx(theirs.as_matrix(), abs=1e-12)
    assert matrix_of_quaternion(quaternion_of_matrix(matrix)) == pytest.approx(matrix, abs=1e-12)
    assert matrix_of_vector(vector_of_matrix(matrix)) == pytest.approx(matrix, abs=1e-7)
    assert np.linalg.norm(vector_of_matrix(matrix)) == pytest.approx(theirs.magnitude(), abs=1e-7)


@given(quaternions, quaternions)
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


def test_opposite_directions_are_aligned_by_a_half_turn():
    up = np.array([0.0, 0.0, 1.0])
    assert aligning(up, -up) @ up == pytest.approx(-up)
    assert aligning(up, up) == pytest.approx(np.eye(3))


def test_about_z_agrees_with_scipy():
    assert about_z(0.7) == pytest.approx(Rotation.from_euler("z", 0.7).as_matrix())


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
