"""Looks with the camera at the wrist into places that the camera above the table cannot see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
import structlog

from spca_core.camera import RgbdFrame
from spca_core.errors import MotionError
from spca_core.geometry import Array, Pose
from spca_core.ports.table import Camera
from spca_core.world import World
from spca_motion.manipulator import Manipulator
from spca_motion.tool import ToolKinematics, planning_gap
from spca_sense.fusion import fused
from spca_sense.view import NO_HEIGHT, HeightView, make_view, morphed

log = structlog.get_logger(__name__)

_MOST = 3  # places that are looked into, one after the other
# Of the camera's poses on hemispheres about a place: radii in metres, angles in radians, the steepest first.
_DISTANCES = (0.25, 0.32, 0.40)
_ELEVATIONS = np.radians((80.0, 60.0, 45.0))
_AROUND, _TURNS = (np.linspace(0.0, 2 * np.pi, n, endpoint=False) for n in (12, 8))
_LOW = 0.005  # metres above the table, where a place is to be seen
_CLEAR = 0.003  # metres by which a line of sight may seem to be below what is beside it
_ALONG = np.linspace(0.02, 1.0, 40)  # of a line of sight, where it is looked at what is in its way
_POINTS = 40  # of a place, at most, that are to be seen
_ENOUGH = 0.5  # share of them


class Glances:
    """Finds what is hidden, and takes pictures of it.

    A place is hidden if no picture shows the table there, and the smallest thing of the world has room in it.
    """

    def __init__(self, world: World, arm: Manipulator, camera: Camera) -> None:
        self._world, self._arm, self._camera = world, arm, camera
        self._tools = ToolKinematics(world)
        self._width = min(min(o.size[:2]) for o in world.objects)

    def frames(self, first: RgbdFrame) -> list[RgbdFrame]:
        """Look into what is hidden from a first frame, the arm then out of view; return what was seen.

        Raises MotionError if the arm is stopped, or cannot be moved out of view.
        """
        found: list[RgbdFrame] = []
        for _ in range(_MOST):
            view = make_view(fused((first, *found), self._world.table.top), self._world.table.top)
            ways = (pose for place in self._hidden(view) for pose in self._poses(view, place))
            if (pose := next(filter(self._arm.reachable, ways), None)) is None:
                break
            try:
                self._arm.move_to(pose)
            except MotionError as error:
                if error.kind == "cancelled":
                    raise
                log.warning("no look from the wrist", why=str(error))
                break
            found.append(self._taken())
        if found:
            self._arm.move_named("out_of_view")
        return found

    def _taken(self) -> RgbdFrame:
        """Take a picture, and return it with its pose in `world`."""
        frame, carrier = self._camera.capture(), self._tools.flange(self._arm.state().position)
        return replace(frame, pose=Pose.from_matrix(carrier @ frame.pose.matrix()))

    def _hidden(self, view: HeightView) -> Iterator[Array]:
        """Yield points (N, 3: x, y, height) in each hidden place of the work area, the largest one first."""
        area, unseen = self._world.work_area, view.heights < NO_HEIGHT / 2
        corners = view.to_pixels(np.array([(x, y, 0.0) for x in area.x for y in area.y]))
        (left, upper), (right, lower) = corners.min(axis=0).astype(int), corners.max(axis=0).astype(int)
        inside = np.zeros_like(unseen)
        inside[max(upper, 0) : max(lower, 0), max(left, 0) : max(right, 0)] = True
        width = max(round(self._width / view.metres_per_pixel(0.0)), 1)
        places = morphed(unseen & inside, cv2.MORPH_OPEN, width)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(places.astype(np.uint8))
        for index in sorted(range(1, count), key=lambda i: -stats[i, cv2.CC_STAT_AREA]):
            pixels = np.argwhere(labels == index)[:, ::-1]
            pixels = pixels[:: -(-len(pixels) // _POINTS)].astype(float)
            yield np.column_stack((view.to_plane(pixels, 0.0), np.full(len(pixels), _LOW)))

    def _poses(self, view: HeightView, place: Array) -> list[Pose]:
        """Return tool poses from which the camera sees enough of a place, those that see most first."""
        up, around, away, turn = np.stack(
            np.meshgrid(_ELEVATIONS, _AROUND, _DISTANCES, _TURNS, indexing="ij"), axis=-1
        ).reshape(-1, 4).T  # fmt: skip
        forward = -np.column_stack((np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)))
        level = np.column_stack((-np.sin(around), np.cos(around), np.zeros_like(up)))
        right = level * np.cos(turn)[:, None] + np.cross(forward, level) * np.sin(turn)[:, None]
        cameras = np.tile(np.eye(4), (len(up), 1, 1))
        cameras[:, :3, :3] = np.stack((right, np.cross(forward, right), forward), axis=2)
        cameras[:, :3, 3] = place.mean(axis=0) - forward * away[:, None]

        seen = np.zeros((len(cameras), len(place)), bool)
        seen[:] = np.repeat(_in_sight(view, cameras[:: len(_TURNS), :3, 3], place), len(_TURNS), axis=0)
        own = (place - cameras[:, None, :3, 3]) @ cameras[:, :3, :3]
        k = self._camera.intrinsics
        pixels = k.pixels(own.reshape(-1, 3)).reshape(*seen.shape, 2)
        seen &= ((pixels >= 0) & (pixels < (k.width, k.height))).all(axis=2)
        share = seen.mean(axis=1)

        cameras[:, 2, 3] += view.table_top
        gap = planning_gap(self._arm.state().gripper_gap, holding=False)
        tools = self._tools.beyond(cameras @ np.linalg.inv(self._camera.pose.matrix()), gap)
        good = (share >= _ENOUGH) & self._tools.reached(tools, gap)
        best = np.argsort(-share.round(1), kind="stable")
        return [Pose.from_matrix(tools[i]) for i in best[good[best]]]


def _in_sight(view: HeightView, eyes: Array, points: Array) -> Array:
    """Return whether nothing that a view shows is between eyes (M, 3) and points (N, 3): (M, N).

    Both are x, y, height.
    """
    lines = points + _ALONG[:, None, None, None] * (eyes[:, None] - points)
    height, width = view.heights.shape
    columns, rows = np.rint(view.to_pixels(lines.reshape(-1, 3))).astype(int).T
    heights = view.heights[rows.clip(0, height - 1), columns.clip(0, width - 1)].reshape(lines.shape[:3])
    return np.asarray((heights < lines[..., 2] + _CLEAR).all(axis=0))
