"""Detections drawn into the camera's picture, for reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.camera import RgbdFrame
from spca_core.geometry import Array
from spca_core.kinds import KINDS, is_round
from spca_core.run_folder import write_picture
from spca_core.scene import Scene, SceneObject
from spca_sense.explanations import corners

Image = NDArray[np.uint8]

_AXES = ((220, 40, 40), (40, 180, 60), (40, 80, 230))  # x red, y green, z blue
_AXIS_LENGTH = 0.03
_SEEN, _REMEMBERED = (255, 255, 255), (255, 200, 60)


def draw_scene(frame: RgbdFrame, scene: Scene, scale: int = 2) -> Image:
    """Return the RGB image, enlarged by `scale`, with outlines, axes and names drawn in.

    Remembered objects are drawn in amber.
    """
    image = np.ascontiguousarray(
        cv2.resize(frame.colour, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR), np.uint8
    )
    canvas = _Canvas(image, frame, scale)
    upwards = sorted(scene.objects, key=lambda o: o.pose.position[2])
    for thing in upwards:
        _draw_outline(canvas, thing)
    for thing in scene.objects:
        _draw_axes(canvas, thing)
    for thing in upwards:
        _draw_label(canvas, thing, scene.holds("held", thing.id))
    return canvas.image


class _Canvas:
    """An enlarged picture into which points of `world` can be projected."""

    def __init__(self, image: Image, frame: RgbdFrame, scale: int) -> None:
        self.image, self._frame, self._scale = image, frame, scale
        self._to_camera = np.linalg.inv(frame.pose.matrix())
        self._taken: list[tuple[int, int, int, int]] = []

    def spots(self, points: Array) -> Array:
        """Project points (N, 3) in `world` into the picture: (N, 2) int32 in sixteenths of a pixel."""
        x, y, z = (points @ self._to_camera[:3, :3].T + self._to_camera[:3, 3]).T
        k, z = self._frame.intrinsics, np.maximum(z, 1e-3)
        pixels = np.column_stack((k.fx * x / z + k.cx, k.fy * y / z + k.cy))
        # Centres of small pixels are not centres of large ones.
        large = (pixels + 0.5) * self._scale - 0.5
        return np.clip(np.round(large * 16), -(2**20), 2**20).astype(np.int32)

    def free_line(self, left: int, right: int, line: int, height: int) -> int:
        """Return the nearest free place above `line` (rows) for a label of that height, and take it."""
        while line > 2 * height and any(
            left < r and right > a and line - height < b and line > t for a, t, r, b in self._taken
        ):
            line -= height
        self._taken.append((left, line - height, right, line))
        return line

    def line(self, a: Array, b: Array, colour: tuple[int, int, int], width: int = 1) -> None:
        """Draw a line between two spots."""
        cv2.line(self.image, a.tolist(), b.tolist(), colour, width, cv2.LINE_AA, shift=4)


def _draw_outline(canvas: _Canvas, thing: SceneObject) -> None:
    colour = _SEEN if thing.visible else _REMEMBERED
    upper, lower = corners(thing)
    upper = (upper + lower) / 2 if KINDS[thing.kind].domed else upper
    rings = [canvas.spots(ring) for ring in ((upper,) if is_round(thing.kind) else (upper, lower))]
    for ring, beside in (*((ring, np.roll(ring, -1, axis=0)) for ring in rings), (rings[0], rings[-1])):
        for a, b in zip(ring, beside, strict=True):
            canvas.line(a, b, colour)


def _draw_axes(canvas: _Canvas, thing: SceneObject) -> None:
    if is_round(thing.kind):
        return
    matrix = thing.pose.matrix()
    top = matrix[:3, 3] + matrix[:3, 2] * thing.size[2] / 2
    origin, *ends = canvas.spots(np.vstack((top, top + matrix[:3, :3].T * _AXIS_LENGTH)))
    for end, colour in zip(ends, _AXES, strict=True):
        canvas.line(origin, end, colour, 2)


def _draw_label(canvas: _Canvas, thing: SceneObject, held: bool) -> None:
    x, y = (int(v) for v in canvas.spots(np.array([thing.pose.position]))[0] // 16)
    state = " held" if held else "" if thing.visible else " remembered"
    words = f"{thing.id} {thing.confidence:.2f}{state}"
    font, size = cv2.FONT_HERSHEY_SIMPLEX, 0.75
    (width, height), base = cv2.getTextSize(words, font, size, 1)
    offset = 54 if thing.kind == "plate" else 42
    left = int(np.clip(x - width // 2, 2, canvas.image.shape[1] - width - 2))
    line = int(np.clip(y - offset, height + 4, canvas.image.shape[0] - base - 2))
    line = canvas.free_line(left - 2, left + width + 2, line, height + base + 4)
    box = (left - 2, line - height - 3), (left + width + 2, line + base)
    cv2.rectangle(canvas.image, *box, (30, 30, 30), cv2.FILLED)
    colour = _SEEN if thing.visible else _REMEMBERED
    cv2.putText(canvas.image, words, (left, line), font, size, colour, 1, cv2.LINE_AA)


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
    for number, (frame, scene) in enumerate(looks, len(list(folder.glob("*.json"))) + 1):
        name = f"{number:02}"
        drawn = draw_scene(frame, scene)
        write_picture(folder / f"{name}.jpg", cv2.cvtColor(drawn, cv2.COLOR_RGB2BGR), _JPEG)
        write_picture(folder / f"{name}_colour.png", cv2.cvtColor(frame.colour, cv2.COLOR_RGB2BGR), _FAST)
        write_picture(folder / f"{name}_depth.png", millimetres(frame.depth), _FAST)
        (folder / f"{name}.json").write_text(scene.model_dump_json())


def millimetres(depth: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return depth in metres as whole millimetres; what does not fit into 16 bits becomes 0."""
    scaled = np.rint(depth * 1000.0)
    return np.where((scaled > 0) & (scaled < 65536), scaled, 0).astype(np.uint16)
