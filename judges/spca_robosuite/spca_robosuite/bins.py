"""robosuite's bins, and the things of a catalogue in them, told apart by their measures in the depth image.

The things have textures of several colours, where the stack's own detector knows things of one hue.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import cv2
import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import Array, Pose, wrap_angle
from spca_core.kinds import FLOOR, KINDS, UNKNOWN, WALL
from spca_core.names import symbol_of, words_of
from spca_core.world import World
from spca_sense.catalogue import Catalogue
from spca_sense.colours import label_colours
from spca_sense.detection import Detection, Look
from spca_sense.view import make_view

BINS = {
    "yellow": ((0.1, -0.25), (0.38, 0.48)), "white": ((0.0, 0.155), (0.18, 0.23)),
    "brown": ((0.2, 0.155), (0.18, 0.23)), "orange": ((0.0, 0.405), (0.18, 0.23)),
    "red": ((0.2, 0.405), (0.18, 0.23)),
}  # fmt: skip
"""Centre and inner extents (m) of the bin with the things, and the compartments by what they are for."""
WALL_HEIGHT = 0.08
"""Of the walls above the bins' floor, metres."""
_LOW = 0.012  # metres above the floor; what is higher is no floor
_RIM = 0.003  # metres from a wall that are not looked at
_CELL = 0.002  # metres, of the grid in which what is seen hangs together
_LEAST = 40  # pixels
_APART = 6  # cells: what touches along more than twice this is not told apart
_ERROR = 0.012  # metres by which a thing's extents may seem to differ from the catalogue's
_SURE = 0.95


class BinsDetector:
    """See `spca_sense.detection.Detector`: finds what stands in a bin; the bins themselves are given."""

    def __init__(self, world: World) -> None:
        self.catalogue = Catalogue.from_world(world)
        self._things = {words_of(symbol_of(o.model)).split()[0]: o for o in world.objects}
        self._floor = world.table.top

    def detect(self, frame: RgbdFrame) -> Look:
        """The bins and all things in them, from high to low."""
        view = make_view(frame, self._floor)
        points = frame.points().reshape(-1, 3)
        height = WALL_HEIGHT + FLOOR
        found: list[Detection] = []
        for colour, ((x, y), (a, b)) in BINS.items():
            pose = Pose.from_xyz_yaw(x, y, self._floor - FLOOR + height / 2)
            found.append(Detection("tray", colour, pose, (a + 2 * WALL, b + 2 * WALL, height), _SURE))
            inside = np.abs(points[:, :2] - (x, y)) < (a / 2 - _RIM, b / 2 - _RIM)
            standing = inside.all(axis=1) & (points[:, 2] > self._floor + _LOW)
            for part in _parts(points[standing]):
                found += self._things_in(part)
        return Look(view, label_colours(view, self.catalogue), tuple(sorted(found, key=lambda d: -d.top)), ())

    def _things_in(self, points: Array) -> list[Detection]:
        """The things that these points (N, 3) are of: one, or several that touch."""
        for apart in range(_APART):
            found = [self._named(part) for part in _parts(points, apart)]
            if found and all(thing.colour != UNKNOWN for thing in found):
                return found
        return [self._named(points)]

    def _named(self, points: Array) -> Detection:
        """The thing of the catalogue that these points (N, 3) are of, upright or not."""
        (x, y), (a, b), degrees = cv2.minAreaRect(points[:, :2].astype(np.float32))
        high = float(np.percentile(points[:, 2], 99)) - self._floor
        turn = math.radians(degrees)
        if a < b:
            a, b, turn = b, a, turn + math.pi / 2
        seen = (a, b, high)
        unlike = {name: _differ(sorted(o.size), sorted(seen)) for name, o in self._things.items()}
        colour = min(unlike, key=unlike.__getitem__)
        thing = self._things[colour]
        kind, size = thing.kind, thing.size
        if unlike[colour] > _ERROR:
            colour, kind, size = UNKNOWN, "unknown", seen
        elif _differ((max(size[:2]), min(size[:2]), size[2]), seen) > _ERROR:  # it has fallen over
            kind, size = "cuboid", seen
        period = KINDS[kind].yaw_period
        pose = Pose.from_xyz_yaw(x, y, self._floor + size[2] / 2, wrap_angle(turn, period) if period else 0.0)
        return Detection(kind, colour, pose, size, _SURE)


def _differ(size: Iterable[float], other: Iterable[float]) -> float:
    return max(abs(a - b) for a, b in zip(size, other, strict=True))


def _parts(points: Array, apart: int = 0) -> list[Array]:
    """Points (N, 3) by what hangs together seen from straight above, where walls have no width.

    What hangs together by less than twice `apart` cells is taken apart there.
    """
    if not len(points):
        return []
    cells = np.floor(points[:, :2] / _CELL).astype(int)
    cells -= cells.min(axis=0) - 1
    free = np.ones(cells.max(axis=0) + 2, np.uint8)
    free[cells[:, 0], cells[:, 1]] = 0
    core = cv2.dilate(free, np.ones((2 * apart + 1, 2 * apart + 1), np.uint8))
    if not (core == 0).any():
        return []
    _, labels = cv2.distanceTransformWithLabels(core, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_CCOMP)
    own = labels[cells[:, 0], cells[:, 1]]
    parts = [own == index for index in range(1, labels.max() + 1)]
    return [points[part] for part in parts if np.count_nonzero(part) >= _LEAST]
