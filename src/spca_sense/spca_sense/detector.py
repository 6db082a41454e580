"""From one frame to detections."""

from __future__ import annotations

import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose
from spca_core.rotations import about_z
from spca_sense.catalogue import Catalogue
from spca_sense.colours import label_colours
from spca_sense.cubes import FoundCube, find_cubes
from spca_sense.detection import Detection, Look, square_yaw
from spca_sense.regions import outside
from spca_sense.stacks import complete_stacks
from spca_sense.things import find_flat, find_rest, find_tall, on_their_supports
from spca_sense.view import HeightView, make_view

_SUSPICIOUS_TILT = np.radians(1.0)
_SUSPICIOUS_OFFSET = 0.01


class ShapeDetector:
    """Finds cubes where they explain best what is seen, and then whatever else lies there.

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
        catalogue = self.catalogue
        view = make_view(frame, catalogue.table_top)
        colours = label_colours(view, catalogue)
        cubes: list[FoundCube] = []
        for colour in colours.present if catalogue.cubes else ():
            cubes += find_cubes(view, colours, colour, catalogue)
        cubes = complete_stacks(view, colours, cubes, catalogue.plates)
        detections = [_of_cube(view, c) for c in cubes]
        free = outside(view, detections, np.ones(view.heights.shape, bool))
        others = find_tall(view, colours, free)
        flat, free = find_flat(view, colours, outside(view, others, free), catalogue.plates)
        detections += others + flat + find_rest(view, colours, free)
        settled = tuple(reversed(on_their_supports(detections, catalogue.table_top)))
        return Look(view, colours, settled, tuple(_calibration_notes(view)))


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


def _of_cube(view: HeightView, cube: FoundCube) -> Detection:
    shape = cube.shape
    x, y, yaw = cube.parameters
    axis = shape.tilt[:, 2]
    centre = np.array([x, y, view.table_top + shape.height]) - axis * shape.edge / 2
    matrix = np.eye(4)
    matrix[:3, :3] = shape.tilt @ about_z(square_yaw(yaw))
    matrix[:3, 3] = centre
    edge = shape.edge
    return Detection(
        kind="cube",
        colour=cube.colour,
        pose=Pose.from_matrix(matrix),
        size=(edge, edge, edge),
        confidence=float(cube.confidence),
        seen=cube.seen,
    )
