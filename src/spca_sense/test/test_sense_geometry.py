"""Silhouettes, fits and footprints, over open ranges of poses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Array, Pose
from spca_core.scene import SceneObject
from spca_sense.outline import Outline, Prism, convex_hull, fit_outline, footprint, gap, shared_area, trace
from spca_sense.view import NO_HEIGHT, HeightView, Patch, make_view, most_alike
from spca_testing.observations import thing

TOP = 0.4
EDGE = 0.04
yaws = st.floats(-np.pi, np.pi)


def alone(points: Array) -> Outline:
    """The border (N, 2) of something that nothing hides or touches."""
    return Outline(points, np.zeros(len(points), bool))


def empty_view() -> HeightView:
    """View of a camera 0.85 m above an empty grey table."""
    k = CameraIntrinsics(width=320, height=240, fx=300.0, fy=300.0, cx=159.5, cy=119.5)
    h = np.sqrt(0.5)
    pose = Pose(position=(0.5, 0.0, 1.25), quaternion=(h, -h, 0.0, 0.0))
    depth = np.full((k.height, k.width), 0.85, np.float32)
    colour = np.full((*depth.shape, 3), 198, np.uint8)
    return make_view(RgbdFrame(colour, depth, k, pose, 0.0), TOP)


VIEW = empty_view()


def border_pixels(corners: Array, count: int = 160) -> Array:
    """Pixels evenly along the outline of the hull of points (N, 3)."""
    hull = convex_hull(VIEW.to_pixels(corners))
    closed = np.vstack((hull, hull[:1]))
    lengths = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))))
    at = np.linspace(0, lengths[-1], count, endpoint=False)
    return np.column_stack([np.interp(at, lengths, closed[:, i]) for i in (0, 1)])


def cube_object(x: float, y: float, yaw: float) -> SceneObject:
    return thing("cube_red", Pose.from_xyz_yaw(x, y, TOP + EDGE / 2, yaw))


def test_a_neighbour_of_the_same_height_hides_a_side() -> None:
    """Then the border is the upper face's; taken for the silhouette's, it would draw the box away."""
    truth = np.array([0.34, -0.31, 0.0, EDGE, EDGE])  # far off the optical axis: sides towards it are seen
    shape = Prism("cuboid", 0.04, 0.03)
    face, whole = border_pixels(shape.corners(truth)[:4]), border_pixels(shape.corners(truth))
    x, y = (VIEW.to_plane(face, 0.04) - truth[:2]).T
    seam = face[(x > EDGE / 2 - 1e-4) & (np.abs(y) < EDGE / 2 - 1e-4)]
    ends = whole[np.abs((VIEW.to_plane(whole, 0.04) - truth[:2])[:, 0]) < 0.01]
    outline = Outline(np.vstack((seam, ends)), np.arange(len(seam) + len(ends)) < len(seam))
    start = truth + np.array([0.003, -0.003, 0.1, 0, 0])
    fit = fit_outline(VIEW, shape, outline, start, np.inf)
    assert np.hypot(*(fit.parameters - truth)[:2]) < 0.0005
    mistaken = fit_outline(VIEW, shape, alone(outline.points), truth, np.inf)
    assert np.hypot(*(mistaken.parameters - truth)[:2]) > 0.003


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
