"""Looks with the camera at the wrist into places that the camera above the table cannot see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.camera import RgbdFrame
from spca_core.errors import MotionError
from spca_core.geometry import Array, Pose, about_z, matrix_of_vector
from spca_core.ports.table import Camera
from spca_core.world import World
from spca_motion.manipulator import Manipulator
from spca_motion.tool import ToolKinematics, planning_gap
from spca_robot.gripper_2f85 import tcp_offset
from spca_sense.fusion import fused
from spca_sense.view import NO_HEIGHT, HeightView, make_view, morphed

_MOST = 3  # places that are looked into, one after the other
# From where: angles above the table, around the place, and of the camera about its axis; distance in metres.
_LEAST, _GREATEST = np.array([0.8, 0.0, 0.0, 0.25]), np.array([1.5, 2 * np.pi, 2 * np.pi, 0.4])
_TRIED = 400  # poses of the camera; multiples of these shares, modulo 1, spread evenly (Roberts' sequence)
_SPREAD = 1.1673039782614187 ** -np.arange(1.0, 5.0)
_SEEN, _LOW = 40, 0.005  # points of a place that are to be seen, at most, and metres that they are above it
_ENOUGH = 0.5  # share of them
_ALONG = np.linspace(0.02, 1.0, 40)[
    :, None, None, None
]  # of a line of sight, where nothing may be in the way


def glances(world: World, arm: Manipulator, camera: Camera, first: RgbdFrame) -> list[RgbdFrame]:
    """Look into what is hidden from a first frame, the arm then out of view; return what was seen.

    A place is hidden if no frame shows the table there and the smallest thing of the world has room in it.
    Raises MotionError where the arm is stopped.
    """
    found: list[RgbdFrame] = []
    tools, top = ToolKinematics(world), world.table.top
    while len(found) < _MOST:
        view = make_view(fused((first, *found), top), top)
        ways = (pose for place in _hidden(view, world) for pose in _poses(view, place, arm, camera, tools))
        if (pose := next(filter(arm.reachable, ways), None)) is None:
            break
        try:
            arm.move_to(pose)
        except MotionError as error:  # there may be no way to where it could be
            if error.kind == "cancelled":
                raise
            break
        frame, carrier = camera.capture(), tools.flange(arm.state().position)
        found.append(replace(frame, pose=Pose.from_matrix(carrier @ frame.pose.matrix())))
    arm.move_named("out_of_view")
    return found


def _hidden(view: HeightView, world: World) -> Iterator[Array]:
    """Yield points (N, 3: x, y, height) in each hidden place of the work area, the largest one first."""
    width = round(min(min(o.size[:2]) for o in world.objects) / view.metres_per_pixel(0.0))
    places = morphed(view.heights < NO_HEIGHT / 2, cv2.MORPH_OPEN, max(width, 1))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(places.astype(np.uint8))
    for index in sorted(range(1, len(stats)), key=lambda i: -stats[i, cv2.CC_STAT_AREA]):
        pixels = np.argwhere(labels == index)[:, ::-1].astype(float)
        place = view.to_plane(pixels[:: -(-len(pixels) // _SEEN)], 0.0)
        if len(place := place[[world.work_area.contains(x, y) for x, y in place]]):
            yield np.column_stack((place, np.full(len(place), _LOW)))


def _poses(
    view: HeightView, place: Array, arm: Manipulator, camera: Camera, tools: ToolKinematics
) -> list[Pose]:
    """Return tool poses from which the camera sees enough of a place, those that see most first."""
    eyes = np.tile(np.eye(4), (_TRIED, 1, 1))
    spread = _LEAST + np.arange(_TRIED)[:, None] * _SPREAD % 1 * (_GREATEST - _LEAST)
    for eye, (up, around, turn, away) in zip(eyes, spread, strict=True):
        eye[:3, :3] = about_z(around) @ matrix_of_vector((0.0, np.pi / 2 + up, 0.0)) @ about_z(turn)
        eye[:3, 3] = place.mean(axis=0) - eye[:3, 2] * away
    own = (place - eyes[:, None, :3, 3]) @ eyes[:, :3, :3]
    pixels = camera.intrinsics.pixels(own.reshape(-1, 3)).reshape(*own.shape[:2], 2)
    framed = (pixels >= 0) & (pixels < (camera.intrinsics.width, camera.intrinsics.height))
    share = (framed.all(axis=2) & _in_sight(view, eyes[:, :3, 3], place)).mean(axis=1)

    eyes[:, 2, 3] += view.table_top
    gap = planning_gap(arm.state().gripper_gap, holding=False)
    beyond = Pose.from_xyz_yaw(0.0, 0.0, tcp_offset(gap)).matrix()
    poses = eyes @ np.linalg.inv(camera.pose.matrix()) @ beyond
    good = (share >= _ENOUGH) & tools.reached(poses, gap)
    return [Pose.from_matrix(poses[i]) for i in np.lexsort((-spread[:, 0], -share.round(1))) if good[i]]


def _in_sight(view: HeightView, eyes: Array, points: Array) -> NDArray[np.bool_]:
    """Return which of the points (N, 3: x, y, height) nothing hides from which of the eyes (M, 3): (M, N)."""
    lines = points + _ALONG * (eyes[:, None] - points)
    heights = view.heights_at(lines.reshape(-1, 3)).reshape(lines.shape[:3])
    return np.asarray((heights < lines[..., 2]).all(axis=0))
