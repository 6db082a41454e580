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
from spca_sense.plates import FoundPlate, find_plates
from spca_sense.stacks import complete_stacks
from spca_sense.things import find_flat, find_tall, on_their_supports, paint
from spca_sense.view import HeightView, Patch, make_view

_SUSPICIOUS_TILT = np.radians(1.0)
_SUSPICIOUS_OFFSET = 0.01
_ON_IT = 0.012  # metres above a cube's upper face: what is there is another thing
_MIN_PIXELS = 60  # of a colour; fewer are no thing


class ShapeDetector:
    """Finds cubes and plates of known sizes by colour and shape, and then whatever else lies there.

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
        notes = _calibration_notes(view)
        cubes: list[FoundCube] = []
        present = colours.present(_MIN_PIXELS)
        for colour in present if catalogue.cubes else ():
            found, doubts = find_cubes(view, colours, colour, catalogue)
            cubes += found
            notes += doubts
        cubes = complete_stacks(view, colours, cubes, catalogue.plate_thickness)
        things = np.zeros(view.heights.shape, bool)
        for cube in cubes:
            column = view.patch(cube.column(cube.floor), grow=2)
            higher = view.heights[column.window] > cube.shape.height + _ON_IT
            Patch(column.window, column.mask & ~higher).paint(things)
        others = find_tall(view, colours, things)
        paint(view, others, things)
        plates: list[FoundPlate] = []
        for colour in present if catalogue.plates else ():
            discs, doubts = find_plates(
                view, colours, colour, catalogue.plate_diameter, catalogue.plate_thickness, things
            )
            plates += discs
            notes += doubts
        detections = [_of_cube(view, c) for c in cubes] + others + [_of_plate(view, p) for p in plates]
        paint(view, detections, things)
        detections += find_flat(view, colours, things)
        settled = on_their_supports(detections, catalogue.table_top)
        return Look(view, colours, tuple(reversed(settled)), tuple(notes))


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


def _of_plate(view: HeightView, plate: FoundPlate) -> Detection:
    shape = plate.shape
    x, y = (float(v) for v in plate.centre)
    return Detection(
        kind="plate",
        colour=plate.colour,
        pose=Pose.from_xyz_yaw(x, y, view.table_top + shape.height - shape.thickness / 2),
        size=(2 * shape.radius, 2 * shape.radius, shape.thickness),
        confidence=float(plate.confidence),
    )
