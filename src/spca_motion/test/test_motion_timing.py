"""Trajectories keep every limit anywhere, start and end at rest, and follow their path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.errors import MotionError
from spca_core.geometry import Array, top_down
from spca_core.world import load_world
from spca_motion import paths
from spca_motion.limits import EMPTY, HOLDING, SLOWEST, MotionLimits, WorkspaceBox
from spca_motion.paths import Curve, Piece, rounded, sampled, time_path
from spca_motion.planner import straight_line
from spca_robot.kinematics import ToolKinematics

coordinate = st.floats(-3.0, 3.0)
polylines = st.lists(st.tuples(*[coordinate] * 6), min_size=2, max_size=7, unique=True).map(np.array)
apart = polylines.filter(lambda p: bool((np.linalg.norm(np.diff(p, axis=0), axis=1) > 1e-3).all()))


def derivatives(pieces: list[Piece], limits: MotionLimits) -> tuple[Array, Array, Array]:
    """Velocity, acceleration and jerk (n, 6) along the trajectory, by differences over a fine grid."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "PERIOD", 0.001)
        trajectory = time_path(pieces, limits)
    assert trajectory.times[0] == 0.0 and (np.diff(trajectory.times) > 0).all()
    assert np.allclose(trajectory.velocities[[0, -1]], 0.0, atol=1e-9)
    ends = sampled(pieces, 1.0)[[0, -1]]
    assert np.allclose(trajectory.positions[[0, -1]], ends, atol=1e-6)
    dt = trajectory.times[1]
    velocity = np.diff(trajectory.positions, axis=0) / dt
    assert np.abs(velocity - (trajectory.velocities[1:] + trajectory.velocities[:-1]) / 2).max() < 1e-3
    acceleration = np.diff(trajectory.velocities, axis=0) / dt
    return trajectory.velocities, acceleration, np.diff(acceleration, axis=0) / dt


def keeps(limits: MotionLimits, pieces: list[Piece]) -> None:
    for values, bound in zip(
        derivatives(pieces, limits), (limits.velocity, limits.acceleration, limits.jerk), strict=True
    ):
        assert (np.abs(values).max(axis=0) <= bound * 1.01 + 1e-6).all()


@given(apart, st.sampled_from([EMPTY, HOLDING]))
def test_a_rounded_polyline_keeps_all_limits(waypoints: Array, limits: MotionLimits) -> None:
    keeps(limits, rounded(waypoints))


def test_limits_are_used_fully_and_speed_stretches_the_time() -> None:
    leg = rounded(np.array([np.zeros(6), [2.0, 0.5, 0.0, 0.0, -1.0, 0.0]]))
    velocity, acceleration, _ = derivatives(leg, EMPTY)
    assert (np.abs(velocity) / EMPTY.velocity).max() > 0.9
    assert (np.abs(acceleration) / EMPTY.acceleration).max() > 0.99
    slow = time_path(leg, EMPTY.slowed(0.25)).duration
    assert slow == pytest.approx(4 * time_path(leg, EMPTY).duration, rel=1e-6)


def test_a_sharp_corner_is_stopped_at() -> None:
    keeps(EMPTY, rounded(np.array([np.zeros(6), [1.0, 0, 0, 0, 0, 0], [1.0, 1.0, 0, 0, 0, 0]]), [0.0]))


@pytest.mark.parametrize("limits", [EMPTY, HOLDING.slowed(0.3)])
def test_a_straight_line_of_the_tool_keeps_all_limits(limits: MotionLimits) -> None:
    """Close by the base, where the pan joint hurries."""
    begin, end = top_down(0.16, 0.3, 0.5, 0.0), top_down(0.16, -0.3, 0.5, 0.0)
    tools, home = ToolKinematics(load_world()), np.array(load_world().robot.home)
    branches = tools.arm.nearest_turns(tools.branches(begin.matrix(), 0.04), home)
    start = branches[np.nanargmin(np.abs(branches - home).sum(axis=1))]
    samples, extent = straight_line(tools, start, end.matrix(), 0.04)
    pieces: list[Piece] = [Curve(samples, extent)]
    keeps(limits, pieces)
    assert time_path(pieces, limits).duration > extent / limits.tool_speed


@pytest.mark.parametrize("speed", [SLOWEST, 1e-6])
def test_what_would_take_too_long_is_refused_before_it_is_sampled(speed: float) -> None:
    far = np.stack([np.zeros(6), np.full(6, 2.0), np.full(6, -2.0)])
    bent = np.linspace(0.0, 1.0, 80)[:, None] ** 2 * np.ones(6)
    by = speed ** np.arange(4)
    slow = MotionLimits(
        by[1] * EMPTY.velocity, by[2] * EMPTY.acceleration, by[3] * EMPTY.jerk, by[1] * EMPTY.tool_speed
    )
    for pieces in (rounded(far), [Curve(bent, extent=1.0)]):
        with pytest.raises(MotionError, match="more than 60") as caught:
            time_path(pieces, slow)
        assert caught.value.kind == "limit"


def test_the_workspace_ends_at_the_table_and_names_the_point_outside() -> None:
    box = WorkspaceBox.around(load_world())
    for inside in ([0.5, 0.0, 0.41], [0.5, 0.6, 0.6]):
        box.check(np.array(inside), "the tool")
    for outside in ([0.5, 0.0, 0.39], [0.5, 0.0, 1.9], [2.0, 0.0, 0.5], [0.5, float("nan"), 0.5]):
        with pytest.raises(MotionError, match="the tool") as caught:
            box.check(np.array(outside), "the tool")
        assert caught.value.kind == "limit"
