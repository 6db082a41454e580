"""Forward and inverse kinematics invert each other, at singularities too, or report no solution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spca_core.arms import GROUP, load_arm
from spca_core.extensions import installed
from spca_robot.kinematics import BRANCHES, ArmKinematics, wrap

UR5 = ArmKinematics(load_arm("ur5"))
arms = st.sampled_from([ArmKinematics(load_arm(name)) for name in sorted(installed(GROUP))])
angle = st.floats(-np.pi, np.pi)
joints = st.tuples(*[angle] * 6)
# Angles at and next to the values at which an axis lines up with another.
singular_angle = st.builds(
    lambda base, off: base + off,
    st.sampled_from([0.0, np.pi, -np.pi, np.pi / 2, -np.pi / 2]),
    st.sampled_from([0.0, 1e-12, -1e-9, 1e-7, -1e-6, 1e-4]),
)
near_singular = st.tuples(*[singular_angle] * 6)


def test_forward_agrees_with_the_dh_table_multiplied_out() -> None:
    q = np.array([0.3, -1.2, 1.4, -0.7, -1.1, 2.0])
    expected = np.diag([-1.0, -1.0, 1.0, 1.0])
    table = [(0, np.pi / 2, 0.089159), (-0.425, 0, 0), (-0.39225, 0, 0)]
    table += [(0, np.pi / 2, 0.10915), (0, -np.pi / 2, 0.09465), (0, 0, 0.0823)]
    for theta, (a, alpha, d) in zip(q, table, strict=True):
        ct, st_, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        rows = [
            [ct, -st_ * ca, st_ * sa, a * ct],
            [st_, ct * ca, -ct * sa, a * st_],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
        expected = expected @ np.array(rows)
    assert np.allclose(UR5.forward(q), expected, atol=1e-12)


def test_the_stretched_arm_points_forward_and_the_home_tool_points_down() -> None:
    stretched = UR5.forward(np.zeros(6))
    assert stretched[0, 3] == pytest.approx(0.425 + 0.39225, abs=1e-9)
    home = UR5.forward([0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])
    assert np.allclose(home[:3, 2], [0, 0, -1], atol=1e-9)
    assert home[0, 3] > 0.4


@given(arms, joints)
def test_the_joints_are_among_the_solutions_of_their_own_pose(
    kin: ArmKinematics, q: tuple[float, ...]
) -> None:
    pose = kin.forward(q)
    solutions = kin.inverse(pose, wrist_3_if_free=q[5])
    assert 1 <= len(solutions) <= BRANCHES
    assert np.abs(kin.forward(solutions) - pose).max() < 1e-7
    if abs(np.sin(q[2])) > 1e-3 and abs(np.sin(q[4])) > 1e-3 and _off_shoulder_axis(kin, pose):
        assert np.abs(wrap(solutions - q)).max(axis=1).min() < 1e-6


@given(arms, near_singular)
@example(UR5, (0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0))
@settings(max_examples=300)
def test_every_solution_near_a_singularity_reaches_the_pose(kin: ArmKinematics, q: tuple[float, ...]) -> None:
    pose = kin.forward(q)
    solutions = kin.inverse(pose, wrist_3_if_free=q[5])
    assert len(solutions) >= 1
    assert np.abs(kin.forward(solutions) - pose).max() < 1e-6


@given(arms, joints, st.floats(1.0, 5.0), st.floats(-1.0, 1.0), angle)
def test_a_pose_beyond_the_reach_has_no_solution(
    kin: ArmKinematics, q: tuple[float, ...], distance: float, height: float, bearing: float
) -> None:
    pose = kin.forward(q)
    distance *= -kin.a[1] - kin.a[2] + kin.d[0] + kin.d[4]
    pose[:3, 3] = [distance * np.cos(bearing), distance * np.sin(bearing), height * distance]
    pose[:3, 3] += (
        kin.d[5] * pose[:3, 2]
    )  # the wrist's centre is beyond reach then, wherever the flange points
    assert kin.inverse(pose).shape == (0, 6)
    assert np.isnan(kin.inverse_branches(pose)).all()


def test_a_pose_within_the_shoulders_own_axis_has_no_solution() -> None:
    pose = np.eye(4)
    pose[:3, 3] = [0.05, 0.0, 0.6]  # wrist centre 5 cm off the vertical axis; the arm stands 11 cm off it
    assert UR5.inverse(pose).shape == (0, 6)


@given(arms, st.lists(joints, min_size=1, max_size=6))
def test_many_poses_at_once_equal_one_at_a_time(kin: ArmKinematics, many: list[tuple[float, ...]]) -> None:
    poses = kin.forward(np.array(many))
    together = kin.inverse_branches(poses)
    for i, pose in enumerate(poses):
        assert np.allclose(together[i], kin.inverse_branches(pose), equal_nan=True, atol=1e-12)


def test_a_branch_keeps_its_place_along_a_line() -> None:
    home = UR5.forward([0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])
    poses = np.repeat(home[None], 50, axis=0)
    poses[:, 2, 3] -= np.linspace(0, 0.2, 50)
    steps = np.abs(wrap(np.diff(UR5.inverse_branches(poses), axis=0)))
    assert np.nanmax(steps) < 0.1


@given(arms, joints, joints)
def test_turns_stay_within_limits_and_are_the_nearest(
    kin: ArmKinematics, q: tuple[float, ...], offset: tuple[float, ...]
) -> None:
    low, high = kin.range.T
    solution, reference = np.array(q), np.clip(2 * np.array(offset), low, high)
    near = kin.nearest_turns(solution, reference)
    assert ((near >= low) & (near <= high)).all()
    for turn in (-2 * np.pi, 2 * np.pi):
        other = near + turn
        within = (other >= low) & (other <= high)
        assert (np.abs(near - reference) <= np.abs(other - reference) + 1e-5)[within].all()
    assert np.allclose(kin.forward(near), kin.forward(solution), atol=1e-5)


def test_a_joint_that_no_turn_brings_within_its_limits_has_none() -> None:
    solution = np.array([[2.0, 0, 0, 0, 0, 0], [0.5, 0, 0, 0, 0, 0]])
    narrow = ArmKinematics(load_arm("ur5"))
    narrow.range = np.tile([-1.0, 1.0], (6, 1))
    near = narrow.nearest_turns(solution, np.zeros(6))
    assert np.isnan(near[0]).all()
    assert np.allclose(near[1], solution[1])


def _off_shoulder_axis(kin: ArmKinematics, pose: np.ndarray) -> bool:
    centre = pose[:3, 3] - kin.d[5] * pose[:3, 2]
    return bool(np.hypot(centre[0], centre[1]) > kin.d[3] + 1e-3)
