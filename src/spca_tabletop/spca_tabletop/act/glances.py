"""Looks with the camera at the wrist into places that the camera above the table cannot see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import cv2
import numpy as np

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.errors import MotionError
from spca_core.geometry import Array, Pose, about_z, matrix_of_vector
from spca_core.ports.table import Camera
from spca_core.world import World
from spca_motion.manipulator import Manipulator
from spca_robot.kinematics import ToolKinematics
from spca_sense.view import NO_HEIGHT, HeightView, fused, make_view, morphed

_MOST = 3  # places that are looked into, one after the other
# From where: angles above the table, around the place, and of the camera about its axis; distance in metres.
_LEAST, _GREATEST = np.array([0.8, 0.0, 0.0, 0.25]), np.array([1.5, 2 * np.pi, 2 * np.pi, 0.4])
_TRIED = 400  # poses of the camera; multiples of these shares, modulo 1, spread evenly (Roberts' sequence)
_SPREAD = 1.1673039782614187 ** -np.arange(1.0, 5.0)
_POINTS, _ENOUGH = 40, 0.5  # of a place, at most, and of a line; the share that must be in sight
# Of a line of sight, where nothing is in its way:
_ALONG = np.linspace(0.0, 1.0, 1 + _POINTS)[1:, None, None, None]


def glances(world: World, arm: Manipulator, camera: Camera, first: RgbdFrame) -> list[RgbdFrame]:
    """Look into what is hidden from a first frame, the arm then out of view; return what was seen.

    A place is hidden if no frame shows the table there and the smallest thing of the world has room in it.
    """
    found: list[RgbdFrame] = []
    top, flange = world.table.top, ToolKinematics(world).flange(arm.state().position)
    mounted = np.linalg.inv(arm.tool_pose().matrix()) @ flange @ camera.pose.matrix()
    while len(found) < _MOST:
        view = make_view(fused((first, *found), top), top)
        eyes = (eye for place in _hidden(view, world) for eye in _eyes(view, place, camera.intrinsics))
        poses = (Pose.from_matrix(eye @ np.linalg.inv(mounted)) for eye in eyes)
        if (pose := next(filter(arm.reachable, poses), None)) is None:
            break
        with suppress(MotionError):  # there may be no way there, and it has stopped where it sees something
            arm.move_to(pose)
        there = arm.tool_pose().matrix() @ mounted
        found.append(replace(camera.capture(), pose=Pose.from_matrix(there)))
        arm.move_named("out_of_view")
    return found


def _hidden(view: HeightView, world: World) -> Iterator[Array]:
    """Yield points (N, 3: x, y, 0) in each hidden place of the work area, the largest one first."""
    least = min((side for o in world.objects for side in o.size[:2]), default=1.0)
    width = int(least / view.metres_per_pixel(0.0)) + 1
    places = morphed(view.heights < NO_HEIGHT / 2, cv2.MORPH_OPEN, width)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(places.view(np.uint8))
    for index in sorted(range(1, len(stats)), key=lambda i: -stats[i, cv2.CC_STAT_AREA]):
        pixels = np.argwhere(labels == index)[:, ::-1].astype(float)
        place = view.to_plane(pixels[:: -(-len(pixels) // _POINTS)], 0.0)
        if len(place := place[[world.work_area.contains(x, y) for x, y in place]]):
            yield np.pad(place, ((0, 0), (0, 1)))


def _eyes(view: HeightView, place: Array, camera: CameraIntrinsics) -> Array:
    """Return poses (N, 4, 4) of a camera that show enough of a place, those that show most first."""
    eyes = np.tile(np.eye(4), (_TRIED, 1, 1))
    spread = _LEAST + np.arange(_TRIED)[:, None] * _SPREAD % 1 * (_GREATEST - _LEAST)
    for eye, (up, around, turn, away) in zip(eyes, spread, strict=True):
        eye[:3, :3] = about_z(around) @ matrix_of_vector((0.0, np.pi / 2 + up, 0.0)) @ about_z(turn)
        eye[:3, 3] = place.mean(axis=0) - eye[:3, 2] * away
    lines = eyes[:, None, :3, 3] - place
    pixels = camera.pixels(-lines @ eyes[:, :3, :3])
    shown = ((pixels >= 0) & (pixels < (camera.width, camera.height))).all(axis=2)
    between = place + _ALONG * lines
    heights = view.heights_at(between.reshape(-1, 3)).reshape(between.shape[:3])
    share = (shown & (heights < between[..., 2]).all(axis=0)).mean(axis=1)
    eyes[:, 2, 3] += view.table_top
    best = np.lexsort((-spread[:, 0], -share.round(1)))  # of those that show as much, the steepest first
    return eyes[best[share[best] >= _ENOUGH]]
