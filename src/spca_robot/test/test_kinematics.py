"""Forward and inverse kinematics invert each other, at singularities too, or report no solution."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spca_core.arms import GROUP, load_arm
from spca_core.extensions import installed
from spca_core.geometry import Array
from spca_robot.kinematics import BRANCHES, ArmKinematics, wrap

UR5 = ArmKinematics(load_arm("ur5"))
PANDA = ArmKinematics(load_arm("panda"))
arms = st.sampled_from([ArmKinematics(load_arm(name)) for name in sorted(installed(GROUP))])
angle = st.floats(-np.pi, np.pi)
joints = st.tuples(*[angle] * 7)  # an arm takes as many of them as it has
# Angles at and next to the values at which an axis lines up with another.
singular_angle = st.builds(
    lambda base, off: base + off,
    st.sampled_from([0.0, np.pi, -np.pi, np.pi / 2, -np.pi / 2]),
    st.sampled_from([0.0, 1e-12, -1e-9, 1e-7, -1e-6, 1e-4]),
)
near_singular = st.tuples(*[singular_angle] * 7)


def test_an_arm_is_where_its_maker_says() -> None:
    """A UR5 stretched out, and a Panda where libfranka's examples begin.

    The Panda's hand is then at (0.307, 0, 0.487), 0.1034 m beyond the flange.
    """
    stretched = UR5.forward(np.zeros(6))
    assert stretched[:3, 3] == pytest.approx([0.81725, 0.19145, -0.005491], abs=1e-6)
    assert stretched[:3, 2] == pytest.approx([0, 1, 0], abs=1e-9)
    flange = PANDA.forward([0, -np.pi / 4, 0, -3 * np.pi / 4, 0, np.pi / 2, np.pi / 4])
    assert flange[:3, 3] == pytest.approx([0.3069, 0.0, 0.4869 + 0.1034], abs=2e-4)
    assert flange[:3, 2] == pytest.approx([0, 0, -1], abs=1e-9)
    assert flange[0, 0] == pytest.approx(np.cos(np.pi / 4))


def _own(kin: ArmKinematics, q: tuple[float, ...]) -> Array:
    return np.array(q[: len(kin.range)])


def _reached(kin: ArmKinematics, q: Array, within: float) -> Array:
    """The solutions of the joints' own pose, each of which reaches it."""
    pose = kin.forward(q)
    branches = kin.inverse_branches(pose, q[-1])
    solutions = branches[~np.isnan(branches[:, 0])]
    assert 1 <= len(solutions) <= BRANCHES
    assert np.abs(kin.forward(solutions) - pose).max() < within
    return solutions


@given(arms, joints)
def test_the_joints_are_among_the_solutions_of_their_own_pose(
    kin: ArmKinematics, q: tuple[float, ...]
) -> None:
    q = _own(kin, q)
    solutions = _reached(kin, q, within=1e-7)
    if _condition(kin, q) > 1e-3:
        assert np.abs(wrap(solutions - q)).max(axis=1).min() < 1e-6


@given(arms, near_singular)
@example(UR5, (0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0, 0.0))
@example(PANDA, (0.0, 0.0, 0.0, -np.pi / 2, 0.0, np.pi / 2, 0.0))
def test_every_solution_near_a_singularity_reaches_the_pose(kin: ArmKinematics, q: tuple[float, ...]) -> None:
    _reached(kin, _own(kin, q), within=1e-6)


@given(arms, joints, joints)
def test_turns_stay_within_limits_and_are_the_nearest(
    kin: ArmKinematics, q: tuple[float, ...], offset: tuple[float, ...]
) -> None:
    low, high = kin.range.T
    solution, reference = (np.clip(angles, low, high) for angles in (_own(kin, q), 2 * _own(kin, offset)))
    solution = wrap(solution)
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


def _condition(kin: ArmKinematics, q: Array) -> float:
    """The least singular value of the Jacobian, the last joint of a redundant arm standing still."""
    columns = []
    for step in 1e-6 * np.eye(len(q))[:6]:
        ahead, behind = kin.forward(q + step), kin.forward(q - step)
        turn = ahead[:3, :3] @ behind[:3, :3].T
        turned = [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
        columns.append(np.concatenate([ahead[:3, 3] - behind[:3, 3], np.array(turned) / 2]) / 2e-6)
    return float(np.linalg.svd(np.array(columns))[1][-1])
