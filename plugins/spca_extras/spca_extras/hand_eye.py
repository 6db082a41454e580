"""Hand–eye calibration: where a fixed camera stands, from pictures of a ChArUco board at the robot's wrist.

The board may be fastened to the wrist anyhow: where it is there is found, too. With the inverse poses of the
wrist it is where a camera is at the wrist, from pictures of a board that lies still. The first estimate is in
closed form, from the motions between pictures (the rotation as in Park and Martin, "Robot sensor calibration:
solving AX = XB on the Euclidean group", 1994); then all corners of all pictures are fitted at once. (OpenCV's
own `calibrateHandEye` is missing in the Python package of OpenCV 5.0.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from spca_core.errors import InputError
from spca_core.geometry import Array, Pose

_CORNERS = 6  # of a board, at least: with four in a row, its pose is not known
_PICTURES = 5
_TURN = np.radians(10)  # root mean square, about at least two axes
_MISFIT = 5.0  # pixels: more is no noise, but a wrong board, or poses of other pictures


@dataclass(frozen=True)
class Board:
    """A ChArUco board: its squares in a row and in a column, the sides of squares and markers in metres."""

    columns: int
    rows: int
    square: float
    marker: float
    dictionary: str = "DICT_4X4_50"

    def pattern(self) -> cv2.aruco.CharucoBoard:
        """OpenCV's description of it. Raises InputError for a board that cannot be."""
        known = getattr(cv2.aruco, self.dictionary, None)
        if known is None:
            raise InputError(f"OpenCV has no dictionary '{self.dictionary}'", hint="DICT_4X4_50, for example")
        try:
            markers = cv2.aruco.getPredefinedDictionary(known)
            return cv2.aruco.CharucoBoard((self.columns, self.rows), self.square, self.marker, markers)
        except (cv2.error, SystemError) as error:  # (its Python package raises either)
            raise InputError("no such board", str(self), "the marker is smaller than the square") from error


@dataclass(frozen=True)
class Lens:
    """A camera's matrix (3, 3) in pixels, and its distortion in the order of OpenCV and ROS."""

    matrix: Array
    distortion: Array


@dataclass(frozen=True)
class BoardPicture:
    """A picture of the board: its corners on the board (N, 3; metres) and in the picture (N, 2; pixels).

    `wrist` is the pose (4×4) of the wrist in `world` when it was taken; its inverse for a camera there.
    """

    name: str
    wrist: Array
    points: NDArray[np.float32]
    pixels: NDArray[np.float32]


@dataclass(frozen=True)
class Calibration:
    """The camera's optical frame in `world` (or at the wrist), and how well each picture fits it.

    `pixels`: by how much its corners are off (root mean square). `distances`: how far (m) from where the
    wrist holds the board the picture alone, without the robot, sees it.
    """

    pose: Pose
    pixels: dict[str, float]
    distances: dict[str, float]


def corners(
    picture: cv2.typing.MatLike, board: Board
) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
    """The board's corners on the board and in a grey picture; None if it is not seen well enough."""
    pattern = board.pattern()
    pixels, ids, _, _ = cv2.aruco.CharucoDetector(pattern).detectBoard(picture)
    if ids is None or len(ids) < _CORNERS:
        return None
    points = np.asarray(pattern.getChessboardCorners(), np.float32)[ids.ravel()]
    if pattern.checkCharucoCornersCollinear(ids):
        return None
    return points, np.asarray(pixels, np.float32).reshape(-1, 2)


def calibrate(views: Sequence[BoardPicture], lens: Lens) -> Calibration:
    """Find the camera's pose.

    Raises InputError for too few pictures, for a board that was hardly turned between them, or about one axis
    only, and where pictures and poses do not fit each other.
    """
    if len(views) < _PICTURES:
        seen = ", ".join(view.name for view in views) or "none"
        raise InputError(
            f"the board is seen in {len(views)} pictures", seen, f"at least {_PICTURES} are needed"
        )
    alone = [_seen_alone(view, lens) for view in views]
    camera = _closed_form(np.array([view.wrist for view in views]), np.array(alone))
    board = np.linalg.inv(views[0].wrist) @ camera @ alone[0]

    def misfit(change: Array) -> Array:
        moved, held = camera @ _matrix(change[:6]), board @ _matrix(change[6:])
        seen = np.linalg.inv(moved)
        off = [_projected(view, seen @ view.wrist @ held, lens) - view.pixels for view in views]
        return np.concatenate(off).ravel()

    found = least_squares(misfit, np.zeros(12), loss="soft_l1", x_scale="jac").x
    camera, board = camera @ _matrix(found[:6]), board @ _matrix(found[6:])
    ends = np.cumsum([2 * len(view.pixels) for view in views])[:-1]
    off = [np.sqrt(2 * np.mean(part**2)) for part in np.split(misfit(found), ends)]
    pixels = {view.name: float(value) for view, value in zip(views, off, strict=True)}
    worst = max(pixels, key=pixels.__getitem__)
    if (all_ := float(np.sqrt(np.mean(np.square(off))))) > _MISFIT:
        raise InputError(
            f"pictures and poses do not fit: corners are off by {all_:.0f} pixels",
            f"the worst: {worst}",
            "check the board's sizes, and that each pose is that of its picture",
        )
    distances = {
        view.name: float(np.linalg.norm((camera @ seen - view.wrist @ board) @ [*view.points.mean(0), 1.0]))
        for view, seen in zip(views, alone, strict=True)
    }
    return Calibration(Pose.from_matrix(camera), pixels, distances)


def _seen_alone(view: BoardPicture, lens: Lens) -> Array:
    """The board (4×4) in the camera's frame, from one picture."""
    _, turn, shift = cv2.solvePnP(view.points, view.pixels, lens.matrix, lens.distortion)
    return _matrix(np.concatenate([turn.ravel(), shift.ravel()]))


def _projected(view: BoardPicture, board: Array, lens: Lens) -> Array:
    turn = Rotation.from_matrix(board[:3, :3]).as_rotvec()
    pixels, _ = cv2.projectPoints(view.points, turn, board[:3, 3], lens.matrix, lens.distortion)
    return np.asarray(pixels.reshape(-1, 2), float)


def _closed_form(wrists: Array, boards: Array) -> Array:
    """The camera (4×4) in `world`, from wrists in `world` and boards in the camera's frame (N, 4, 4).

    Between two pictures the board moves by A in `world` and by B in the camera's frame: A X = X B.
    """
    pairs = list(combinations(range(len(wrists)), 2))
    a = np.array([wrists[i] @ np.linalg.inv(wrists[j]) for i, j in pairs])
    b = np.array([boards[i] @ np.linalg.inv(boards[j]) for i, j in pairs])
    turns = Rotation.from_matrix(a[:, :3, :3]).as_rotvec()
    if np.linalg.svd(turns, compute_uv=False)[1] / np.sqrt(len(pairs)) < _TURN:
        what = "the board was hardly turned between the pictures, or about one axis only"
        raise InputError(what, hint="turn the wrist by 30 degrees or more, about several axes")
    seen = Rotation.from_matrix(b[:, :3, :3]).as_rotvec()
    camera = np.eye(4)
    camera[:3, :3] = Rotation.align_vectors(turns, seen)[0].as_matrix()
    left = (a[:, :3, :3] - np.eye(3)).reshape(-1, 3)
    right = (b[:, :3, 3] @ camera[:3, :3].T - a[:, :3, 3]).ravel()
    camera[:3, 3] = np.linalg.lstsq(left, right, rcond=None)[0]
    return camera


def _matrix(vector: Array) -> Array:
    """A rigid transform (4×4) from a rotation vector (rad) and a shift (m), six numbers."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = Rotation.from_rotvec(vector[:3]).as_matrix(), vector[3:]
    return matrix
