"""Silhouettes, fits and footprints, over open ranges of poses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.geometry import Pose
from spca_core.scene import SceneObject
from spca_sense.outline import Outline, footprint, gap, shared_area, trace
from spca_sense.view import NO_HEIGHT, Patch, most_alike
from spca_testing.observations import thing

TOP = 0.4
EDGE = 0.04
yaws = st.floats(-np.pi, np.pi)


def cube_object(x: float, y: float, yaw: float) -> SceneObject:
    return thing("cube_red", Pose.from_xyz_yaw(x, y, TOP + EDGE / 2, yaw))


@given(yaws, st.floats(0.0, 0.05), st.integers(0, 3))
def test_the_gap_of_flush_cubes_is_their_distance_less_an_edge(yaw: float, free: float, side: int) -> None:
    angle = yaw + side * np.pi / 2
    a = cube_object(0.5, 0.0, yaw)
    b = cube_object(0.5 + (EDGE + free) * np.cos(angle), (EDGE + free) * np.sin(angle), yaw)
    assert gap(footprint(a), footprint(b)) == pytest.approx(free, abs=1e-6)


@given(st.floats(-0.05, 0.05) | st.floats(-1e-6, 1e-6), st.floats(-0.05, 0.05) | st.just(0.0), yaws)
def test_what_two_squares_share(right: float, up: float, yaw: float) -> None:
    """Almost equal ones included: stacked cubes are."""
    x, y = right * np.cos(yaw) - up * np.sin(yaw), right * np.sin(yaw) + up * np.cos(yaw)
    a, b = (footprint(cube_object(*at, yaw)) for at in ((0.0, 0.0), (x, y)))
    expected = max(0.0, EDGE - abs(right)) * max(0.0, EDGE - abs(up))
    assert shared_area(a, b) == pytest.approx(expected, abs=1e-9)
    assert shared_area(b, a) == pytest.approx(expected, abs=1e-9)


def traced(height: float, columns: slice, *sides: float) -> Outline:
    """The own outline of a square, with something of a height in columns of the picture beside it."""
    mask, above = np.zeros((20, 20), bool), np.zeros((20, 20), np.float32)
    mask[5:15, 5:15] = True
    above[:, columns] = height
    return trace(Patch((slice(0, 20), slice(0, 20)), mask), above, *sides, None)


def test_a_hole_is_as_deep_as_what_looks_like_it() -> None:
    """At an edge of what is high, and where there is nothing to compare it with."""
    colour = np.zeros((5, 6, 3), np.uint8)
    colour[:, 3:] = (200, 40, 40)
    depth = np.where(colour[..., 0] > 0, 0.5, 0.85).astype(np.float32)
    holes = np.zeros(depth.shape, bool)
    holes[1:4, 2:4] = holes[0, 0] = True
    assert np.array_equal(most_alike(np.where(holes, 0, depth), holes, colour, 1), depth[holes])
    assert most_alike(np.zeros((5, 6)), holes, colour, 1).max() == 0


def test_an_outline_leaves_out_what_is_cut_off_by_an_occluder_and_not_by_what_is_low() -> None:
    """Next to holes it is judged by what lies behind them."""
    outline = traced(0.2, np.s_[15:], 0.038, 0.016)
    assert len(outline.points) == 30 and 14.5 not in outline.points[:, 0]
    low = traced(0.005, np.s_[15:], 0.006, 0.006)
    assert len(low.points) == 40
    assert {float(x) for x, _ in low.points[low.beside > 0.5]} == {14.5}
    assert len(traced(NO_HEIGHT, np.s_[15:17], 0.038, 0.016).points) == 40
    assert len(traced(NO_HEIGHT, np.s_[15:], 0.038, 0.016).points) == 30
