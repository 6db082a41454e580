"""CLIPort's table as the stack's detector is shown it: three views as one from above, in false colours.

The detector tells things by hue alone. CLIPort has eleven colours, some of one hue (red and pink, brown and
orange) and some without (white, gray): each pixel is repainted with the hue that stands for its nearest one.
Where CLIPort speaks of shades, what is brown and flat gets a hue by its shade.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from spca_core.camera import RgbdFrame
from spca_core.scene import SceneObject
from spca_core.world import World
from spca_sense.view import enlarged, morphed, of_clouds

COLOURS = {
    "blue": (78, 121, 167), "red": (255, 87, 89), "green": (89, 169, 79), "orange": (242, 142, 43),
    "yellow": (237, 201, 72), "purple": (176, 122, 161), "pink": (255, 157, 167), "cyan": (118, 183, 178),
    "brown": (156, 117, 95), "white": (255, 255, 255), "grey": (186, 176, 172),
}  # fmt: skip
"""The colours that CLIPort names, as it defines them."""
SHADES = {"black": 0.55, "turquoise": 1.15, "magenta": np.inf}
"""Names that stand for the shades of brown, by what share of brown's brightness they have at the most.

The darkest has 0.48 in light, the middle one 0.62 in shadow. The lightest in shadow is as bright as the
middle one in light.
"""
FLAT = 0.012
"""Metres above the table: nothing with a shade of its own is higher."""
HOLE, ROD = 19, 11
"""Pixels of 2 mm: more than the width of a ring's hole, and of a rod."""
EDGE = 0.006
"""Metres on both sides of a box's outline in which its walls are seen."""
DARK, GREY = 75, 8
"""The table's brightest channel, and by how much its channels differ, at the most."""
CEILING = 0.28
"""Metres above the table: CLIPort's own bound for what it looks at. The arm is higher."""


def false_colour(name: str) -> tuple[float, float, float]:
    """The hue (red, green, blue in 0-1) that stands for one of `COLOURS` or `SHADES`."""
    names = [*COLOURS, *SHADES]
    turn = 5 * names.index(name) % len(names) / len(names)  # neighbours are of unlike hues
    return colorsys.hsv_to_rgb(turn, 1.0, 0.8)


def in_false_colours(seen: NDArray[np.uint8], shaded: NDArray[np.bool_] | bool = False) -> NDArray[np.uint8]:
    """Colours (N, 3) of 0-255; all but the table's are repainted by the chromaticity that is nearest.

    What is `shaded` (N, or none) and brown is repainted by its brightness.
    """
    shares = np.array([np.divide(c, sum(c)) for c in COLOURS.values()], np.float32)
    paints = np.array([false_colour(name) for name in (*COLOURS, *SHADES)]) * 255
    share = seen.astype(np.float32) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    nearest = np.linalg.norm(share[:, None] - shares, axis=2).argmin(axis=1)
    shade = np.searchsorted([*SHADES.values()], seen.max(axis=1) / max(COLOURS["brown"]))
    brown = shaded & (nearest == list(COLOURS).index("brown"))
    nearest = np.where(brown, len(COLOURS) + shade, nearest)
    table = (seen.max(axis=1) < DARK) & (np.ptp(seen, axis=1) < GREY)
    return np.where(table[:, None], seen, paints[nearest]).astype(np.uint8)


def fused(frames: Sequence[RgbdFrame], world: World, shades: bool = False) -> RgbdFrame:
    """One frame of the world's camera from several, each given in the frame of the robot's base.

    With `shades`, those of flat brown things are told.
    """
    clouds = []
    area, top = world.work_area, world.table.top
    low, high = np.array([area.x[0], area.y[0], -np.inf]), np.array([area.x[1], area.y[1], top + CEILING])
    for frame in frames:
        at = frame.points() + world.robot.base.position
        inside = ((at > low) & (at < high)).all(axis=2)
        shaded = shades & (at[inside][:, 2] < top + FLAT)
        clouds.append((at[inside], in_false_colours(frame.colour[inside], shaded)))
    camera = world.camera
    return _between(of_clouds(clouds, camera.intrinsics, camera.pose, frames[0].stamp))


def without(frame: RgbdFrame, box: SceneObject) -> RgbdFrame:
    """The same without a box's walls and floor: the table is seen there."""
    own = (frame.points() - box.pose.position) @ box.pose.matrix()[:3, :3]
    beyond = (np.abs(own[..., :2]) - np.divide(box.size[:2], 2)).max(axis=2)
    bare = (beyond < EDGE) & ((beyond > -EDGE) | (own[..., 2] < FLAT - box.size[2] / 2))
    colour = np.where(bare[..., None], np.uint8(DARK // 2), frame.colour)
    depth = np.where(bare, frame.pose.position[2] - box.bottom, frame.depth)
    return replace(frame, colour=colour, depth=depth.astype(np.float32))


def filled(frame: RgbdFrame) -> RgbdFrame:
    """The same without rods, and with rings' holes filled, in the colour that is nearest; enlarged."""
    # Where there is no depth, there is the table: what is beside that is no hole.
    top = -np.where(frame.depth > 0, frame.depth, np.median(frame.depth[frame.depth > 0]))
    hole, rod = (cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)) for size in (HOLE, ROD))
    level = cv2.morphologyEx(cv2.morphologyEx(top, cv2.MORPH_CLOSE, hole), cv2.MORPH_OPEN, rod)
    changed = np.abs(level - top) > 0.002
    # Around a rod, which is no thin edge, there is more of its colour, as low as the ring.
    strange = changed | morphed(morphed(changed, cv2.MORPH_OPEN, 3), cv2.MORPH_DILATE, 5)
    nearest = distance_transform_edt(strange, return_distances=False, return_indices=True)
    return enlarged(replace(frame, colour=frame.colour[tuple(nearest)], depth=-level.astype(np.float32)))


def _between(frame: RgbdFrame) -> RgbdFrame:
    """The same with what no camera's pixel hits as beside it, where that is lowest, two pixels far."""
    depth, colour = frame.depth.copy(), frame.colour.copy()
    for _ in range(2):
        holes = depth == 0
        for shift in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            near, its = np.roll(depth, shift, (0, 1)), np.roll(colour, shift, (0, 1))
            better = holes & (near > depth)
            depth[better], colour[better] = near[better], its[better]
    return replace(frame, colour=colour, depth=depth)
