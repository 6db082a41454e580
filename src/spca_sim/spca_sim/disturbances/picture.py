"""Disturbances of the camera's picture: a hand in view, less light."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.world import World
from spca_sim.disturbances.disturber import Disturbed
from spca_sim.view import CameraView

_HAND_HEIGHT = 0.22  # m above the table: above everything that stands on it
_SKIN = np.array([196, 150, 122], np.uint8)
# Outlines in metres, the hand pointing along +x: arm and palm, then four fingers and a thumb.
_PALM = np.array([(-0.60, -0.035), (-0.06, -0.03), (-0.05, -0.045), (0.05, -0.045), (0.05, 0.045),
                  (-0.05, 0.045), (-0.06, 0.03), (-0.60, 0.035)])  # fmt: skip
_FINGERS = ((0.05, -0.034, 0.115), (0.05, -0.011, 0.13), (0.05, 0.012, 0.125), (0.05, 0.034, 0.10))


def disturb(
    colour: NDArray[np.uint8], depth: NDArray[np.float32], now: Disturbed, time: float, world: World,
    view: CameraView,
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:  # fmt: skip
    """Return the picture with the hand in view and the light that is left. The inputs are left alone."""
    if now.light != 1.0:
        colour = (colour * np.float32(now.light)).astype(np.uint8)
    if now.hand is not None and time < now.hand[0]:
        colour, depth = colour.copy(), depth.copy()
        _draw_hand(colour, depth, now.hand[1:], now.light, world, view)
    return colour, depth


def _draw_hand(
    colour: NDArray[np.uint8], depth: NDArray[np.float32], place: tuple[float, float, float], light: float,
    world: World, view: CameraView,
) -> None:  # fmt: skip
    """Draw a hand that reaches in from the far edge of the table, above everything there."""
    x, y, heading = place
    z = world.table.top + _HAND_HEIGHT
    c, s = np.cos(heading + np.pi), np.sin(heading + np.pi)
    mask = np.zeros(depth.shape, np.uint8)

    def pixels(outline: NDArray[np.float64]) -> NDArray[np.int32]:
        points = outline @ np.array([[c, s], [-s, c]]) + (x, y)
        return np.rint(view.project(np.column_stack((points, np.full(len(points), z))))[:, :2]).astype(
            np.int32
        )

    cv2.fillPoly(mask, [pixels(_PALM)], 1)
    for base, side, tip in _FINGERS:
        ends = pixels(np.array([(base, side), (tip, side)]))
        cv2.line(mask, ends[0].tolist(), ends[1].tolist(), 1, 24)
    inside = mask > 0
    distance = np.float32(view.pose.position[2] - z)
    inside &= (depth == 0) | (depth > distance)
    shade = np.linspace(0.85, 1.0, depth.shape[1], dtype=np.float32)[None, :, None]
    painted = (_SKIN * shade * light).astype(np.uint8)
    colour[inside] = np.broadcast_to(painted, colour.shape)[inside]
    depth[inside] = distance
