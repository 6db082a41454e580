"""The detector `blobs`: each patch of one colour as high above the table as a cube is one."""

from __future__ import annotations

import cv2
import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose
from spca_sense.catalogue import Catalogue
from spca_sense.colours import label_colours
from spca_sense.detection import Detection, Look, square_yaw
from spca_sense.view import make_view

FEWEST = 60
"""Pixels of a patch; fewer are noise."""


class BlobsDetector:
    """See `spca_sense.detection.Detector`. It takes plates and stacks for nothing: a place to begin."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def detect(self, frame: RgbdFrame) -> Look:
        """The single cubes in sight. Raises ValueError for images that do not fit the intrinsics."""
        size = (frame.intrinsics.height, frame.intrinsics.width)
        if frame.colour.shape != (*size, 3) or frame.depth.shape != size:
            raise ValueError(f"images of {frame.colour.shape} and {frame.depth.shape}, intrinsics of {size}")
        view = make_view(frame, self.catalogue.table_top)
        colours = label_colours(view, self.catalogue)
        edge = self.catalogue.cube_edge
        top = abs(view.heights - edge) < edge / 8
        found = []
        for name in colours.names:
            mask = (top & (colours.labels == colours.label_of(name))).astype(np.uint8)
            count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
            for patch in range(1, count):
                if stats[patch, cv2.CC_STAT_AREA] >= FEWEST:
                    rows, columns = np.nonzero(labels == patch)
                    face = view.to_plane(np.column_stack((columns, rows)), edge)
                    found.append(self._cube(name, face.astype(np.float32)))
        return Look(view, colours, tuple(found))

    def _cube(self, colour: str, face: np.ndarray) -> Detection:
        """A cube from the points of its upper face (N, 2), in metres."""
        edge = self.catalogue.cube_edge
        (x, y), _, degrees = cv2.minAreaRect(face)
        z = self.catalogue.table_top + edge / 2
        pose = Pose.from_xyz_yaw(float(x), float(y), z, square_yaw(np.radians(degrees)))
        return Detection("cube", colour, pose, (edge, edge, edge), confidence=0.9)
