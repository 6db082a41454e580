"""A camera that replays recorded frames of real tables, without a robot or a simulator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.checkpoint import read_arrays
from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.validation import expecting

_SUFFIX = ".npz"


class RecordedCamera:
    """See `spca_core.ports.table.Camera`.

    Each capture is the next frame of a folder, in the order of their names; the first one follows the last.
    """

    intrinsics: CameraIntrinsics
    pose: Pose

    def __init__(self, folder: Path) -> None:
        """List the frames of a folder (see `save_frame`). InputError for none, or a damaged first one."""
        self._paths = sorted(folder.glob(f"*{_SUFFIX}"))
        if not self._paths:
            raise InputError(f"no recorded frames (*{_SUFFIX})", where=str(folder))
        self._next = 0
        first = load_frame(self._paths[0])
        self.intrinsics, self.pose = first.intrinsics, first.pose

    def capture(self) -> RgbdFrame:
        """Return the next frame. Raises InputError for one of another calibration than the first."""
        path = self._paths[self._next]
        frame = load_frame(path)
        if (frame.intrinsics, frame.pose) != (self.intrinsics, self.pose):
            raise InputError("calibrated differently from the first frame", where=str(path))
        self._next = (self._next + 1) % len(self._paths)
        return frame


def save_frame(frame: RgbdFrame, path: Path) -> None:
    """Write a frame to an `.npz` file, lossless: colour, depth, stamp (s), and the calibration as JSON."""
    records = {"intrinsics": frame.intrinsics, "pose": frame.pose}
    calibration = {name: record.model_dump(mode="json") for name, record in records.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path.with_suffix(_SUFFIX), colour=frame.colour, depth=frame.depth, stamp=np.float64(frame.stamp),
        calibration=np.array(json.dumps(calibration)),
    )  # fmt: skip


def load_frame(path: Path) -> RgbdFrame:
    """Read what `save_frame` wrote. Raises InputError for anything else."""
    saved = read_arrays(path, "a recorded frame")
    with expecting("a recorded frame", path):
        calibration = json.loads(str(saved["calibration"]))
        intrinsics = CameraIntrinsics.model_validate(calibration["intrinsics"])
        pose = Pose.model_validate(calibration["pose"])
        colour, depth, stamp = saved["colour"], saved["depth"], float(saved["stamp"])
    size = (intrinsics.height, intrinsics.width)
    kinds = colour.shape, colour.dtype, depth.shape, depth.dtype
    if kinds != ((*size, 3), np.uint8, size, np.float32):
        told = f"not a recorded frame: colour {colour.dtype}{colour.shape}, depth {depth.dtype}{depth.shape}"
        raise InputError(told, where=str(path), hint=f"uint8 and float32 of {size[0]} x {size[1]} pixels")
    return RgbdFrame(colour, depth, intrinsics, pose, stamp)
