"""Writes what was seen: raw colour and depth, the annotated image, and the resulting scene."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.camera import RgbdFrame
from spca_core.disk import write_picture
from spca_core.scene import Scene
from spca_sense.drawing import draw_scene

_FILTER, _SUB = 19, 16  # releases of OpenCV before 5 have no names for them, and filter so anyway
_FAST = [
    *(cv2.IMWRITE_PNG_COMPRESSION, 1, _FILTER, _SUB),
    *(cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_HUFFMAN_ONLY),  # noise does not repeat itself
]
_JPEG = [cv2.IMWRITE_JPEG_QUALITY, 88]


def save_looks(looks: Sequence[tuple[RgbdFrame, Scene]], folder: Path) -> None:
    """Write the files of each look, counting on from what is in the folder already.

    `NN.json` is the scene, `NN.jpg` the picture with the detections, `NN_colour.png` and `NN_depth.png` the
    frame as the camera delivered it; depth as 16 bits a pixel in whole millimetres, 0 for none (REP 118).
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = len(list(folder.glob("*.json")))
    for number, (frame, scene) in enumerate(looks, done + 1):
        name = f"{number:02}"
        drawn = draw_scene(frame, scene)
        write_picture(folder / f"{name}.jpg", cv2.cvtColor(drawn, cv2.COLOR_RGB2BGR), _JPEG)
        colour = cv2.cvtColor(frame.colour, cv2.COLOR_RGB2BGR)
        write_picture(folder / f"{name}_colour.png", colour, _FAST)
        write_picture(folder / f"{name}_depth.png", millimetres(frame.depth), _FAST)
        (folder / f"{name}.json").write_text(scene.model_dump_json())


def millimetres(depth: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Depth in metres as whole millimetres; what does not fit into 16 bits is none."""
    scaled = np.rint(depth * 1000.0)
    return np.where((scaled > 0) & (scaled < 65536), scaled, 0).astype(np.uint16)
