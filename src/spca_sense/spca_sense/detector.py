"""From one frame to detections."""

from __future__ import annotations

import numpy as np

from spca_core.camera import RgbdFrame
from spca_sense.catalogue import Catalogue
from spca_sense.colours import label_colours
from spca_sense.detection import Look
from spca_sense.search import find_things
from spca_sense.view import HeightView, make_view

_SUSPICIOUS_TILT = np.radians(1.0)
_SUSPICIOUS_OFFSET = 0.01


class ShapeDetector:
    """Finds whatever explains best what is seen.

    See `spca_sense.detectors.Detector`.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def detect(self, frame: RgbdFrame) -> Look:
        """All things in sight, and the cubes that must carry what stands high, from high to low.

        Raises ValueError for images that do not have the size of the intrinsics.
        """
        size = (frame.intrinsics.height, frame.intrinsics.width)
        if frame.colour.shape != (*size, 3) or frame.depth.shape != size:
            raise ValueError(f"images of {frame.colour.shape} and {frame.depth.shape}, intrinsics of {size}")
        view = make_view(frame, self.catalogue.table_top)
        colours = label_colours(view, self.catalogue)
        things = find_things(view, colours, self.catalogue)
        return Look(view, colours, things, tuple(_calibration_notes(view)))


def _calibration_notes(view: HeightView) -> list[str]:
    table = view.table
    if not table.trusted:
        return ["too little of the table is in sight to check the camera's calibration"]
    if table.tilt > _SUSPICIOUS_TILT or abs(table.offset) > _SUSPICIOUS_OFFSET:
        return [
            f"the table lies {table.offset * 1000:.1f} mm and {np.degrees(table.tilt):.2f}° "
            "off the calibration"
        ]
    return []
