"""RGB-D frames from and to images and camera infos (REP-104, REP-118: depth as 32FC1 in metres)."""

from __future__ import annotations

from array import array

import numpy as np
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import Header

from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.geometry import Pose
from spca_robot.description.names import OPTICAL_FRAME
from spca_ros.convert.records import seconds, time_msg

_CHANNELS = {"rgb8": slice(None), "bgr8": slice(None, None, -1)}
_DEPTHS = {"32FC1": ("f4", 1.0), "16UC1": ("u2", 0.001)}  # how a pixel is stored, and its unit in metres


def colour_msg(frame: RgbdFrame) -> Image:
    """Return the colour image as a message, rgb8."""
    return _image(frame, np.ascontiguousarray(frame.colour), "rgb8", 3)


def depth_msg(frame: RgbdFrame) -> Image:
    """Return the depth image registered to the colour image as a message, 32FC1: metres, 0 for none."""
    return _image(frame, np.ascontiguousarray(frame.depth, dtype="<f4"), "32FC1", 4)


def info_msg(intrinsics: CameraIntrinsics, stamp: float) -> CameraInfo:
    """Return the calibration of a camera without distortion as a message."""
    i = intrinsics
    return CameraInfo(
        header=_header(stamp),
        height=i.height,
        width=i.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=[i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[i.fx, 0.0, i.cx, 0.0, 0.0, i.fy, i.cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def frame(colour: Image, depth: Image, info: CameraInfo, pose: Pose) -> RgbdFrame:
    """Return a registered pair of images as a frame, seen from `pose` (of the optical frame in `world`).

    Depth is in metres (32FC1) or millimetres (16UC1), as REP 118 has it; what is not finite becomes 0,
    "none". Raises ValueError for encodings or sizes that do not fit.
    """
    if colour.encoding not in _CHANNELS or depth.encoding not in _DEPTHS:
        known = f"{' or '.join(_CHANNELS)} and {' or '.join(_DEPTHS)}"
        raise ValueError(f"expected {known} images, not {colour.encoding} and {depth.encoding}")
    shape = (info.height, info.width)
    if shape != (colour.height, colour.width) or shape != (depth.height, depth.width):
        raise ValueError("colour image, depth image and camera info differ in size")
    kind, unit = _DEPTHS[depth.encoding]
    stored = np.dtype(kind).newbyteorder(">" if depth.is_bigendian else "<")
    z = np.multiply(_pixels(depth, stored.itemsize).view(stored), np.float32(unit), dtype=np.float32)
    rgb = _pixels(colour, 3).reshape(*shape, 3)
    return RgbdFrame(
        colour=rgb[..., _CHANNELS[colour.encoding]].copy(),
        depth=np.where(np.isfinite(z), z, np.float32(0.0)),
        intrinsics=CameraIntrinsics(
            width=info.width, height=info.height, fx=info.k[0], fy=info.k[4], cx=info.k[2], cy=info.k[5]
        ),
        pose=pose,
        stamp=seconds(colour.header.stamp),
    )


def _pixels(image: Image, bytes_per_pixel: int) -> np.ndarray:
    rows = np.frombuffer(image.data, np.uint8).reshape(image.height, image.step)
    return np.ascontiguousarray(rows[:, : bytes_per_pixel * image.width])


def _image(frame: RgbdFrame, pixels: np.ndarray, encoding: str, bytes_per_pixel: int) -> Image:
    height, width = pixels.shape[:2]
    return Image(
        header=_header(frame.stamp),
        height=height,
        width=width,
        encoding=encoding,
        step=width * bytes_per_pixel,
        data=array("B", pixels.tobytes()),  # anything but an array is checked byte by byte: 0.1 s an image
    )


def _header(stamp: float) -> Header:
    return Header(stamp=time_msg(stamp), frame_id=OPTICAL_FRAME)
