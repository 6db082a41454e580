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
from spca_sense.view import SUBPIXEL

Image = NDArray[np.uint8]

_AXES = ((220, 40, 40), (40, 180, 60), (40, 80, 230))  # x red, y green, z blue
_AXIS_LENGTH = 0.03
_SEEN, _REMEMBERED, _GROUND = (255, 255, 255), (255, 200, 60), (30, 30, 30)
_SCALE = 2  # times the size of the frame
_FONT, _FONT_SIZE = cv2.FONT_HERSHEY_SIMPLEX, 0.75
_ABOVE = 46  # pixels between the middle of a thing and its label
_NEAREST = 1e-3  # metres from the camera, where what is drawn is at least


def draw_scene(frame: RgbdFrame, scene: Scene) -> Image:
    """Return the RGB image, enlarged, with outlines, axes and names drawn in.

    Remembered objects are drawn in amber.
    """
    size = frame.intrinsics.width * _SCALE, frame.intrinsics.height * _SCALE
    image = np.ascontiguousarray(cv2.resize(frame.colour, size), np.uint8)
    canvas = _Canvas(image, frame)
    upwards = sorted(scene.objects, key=lambda o: o.pose.position[2])
    for thing in upwards:
        canvas.draw_outline(thing)
    for thing in scene.objects:
        canvas.draw_axes(thing)
    for thing in upwards:
        canvas.draw_label(thing, scene.holds("held", thing.id))
    return image


class _Canvas:
    """An enlarged picture into which things are drawn."""

    def __init__(self, image: Image, frame: RgbdFrame) -> None:
        self._image, self._camera = image, frame.intrinsics
        self._to_camera = np.linalg.inv(frame.pose.matrix())
        self._taken: list[tuple[int, int, int]] = []

    def _spots(self, points: Array) -> Array:
        """Project points (N, 3) in `world` into the picture: (N, 2) int32 in fractions of a pixel."""
        x, y, z = (points @ self._to_camera[:3, :3].T + self._to_camera[:3, 3]).T
        pixels = self._camera.pixels(np.column_stack((x, y, np.maximum(z, _NEAREST))))
        # Centres of small pixels are not centres of large ones.
        large = ((pixels + 0.5) * _SCALE - 0.5) * 2**SUBPIXEL
        return np.clip(np.round(large), -(2**20), 2**20).astype(np.int32)

    def _lines(self, lines: list[Array], colour: tuple[int, int, int], closed: bool, width: int = 1) -> None:
        cv2.polylines(self._image, lines, closed, colour, width, cv2.LINE_AA, shift=SUBPIXEL)

    def draw_outline(self, thing: SceneObject) -> None:
        """Draw the outlines of a thing's upper and lower face, and the edges between."""
        upper, lower = corners(thing)
        upper = (upper + lower) / 2 if KINDS[thing.kind].domed else upper
        rings = [self._spots(ring) for ring in ((upper,) if is_round(thing.kind) else (upper, lower))]
        colour = _SEEN if thing.visible else _REMEMBERED
        self._lines(rings, colour, True)
        self._lines([*np.stack((rings[0], rings[-1]), axis=1)], colour, False)

    def draw_axes(self, thing: SceneObject) -> None:
        """Draw the axes of a thing that is not round, from the middle of its upper face."""
        if is_round(thing.kind):
            return
        matrix = thing.pose.matrix()
        top = matrix[:3, 3] + matrix[:3, 2] * thing.size[2] / 2
        origin, *ends = self._spots(np.vstack((top, top + matrix[:3, :3].T * _AXIS_LENGTH)))
        for end, colour in zip(ends, _AXES, strict=True):
            self._lines([np.array([origin, end])], colour, False, 2)

    def draw_label(self, thing: SceneObject, held: bool) -> None:
        """Write a thing's name above it, or higher where another label is."""
        x, y = (self._spots(np.array([thing.pose.position]))[0] >> SUBPIXEL).tolist()
        state = " held" if held else "" if thing.visible else " remembered"
        words = f"{thing.id} {thing.confidence:.2f}{state}"
        (width, height), base = cv2.getTextSize(words, _FONT, _FONT_SIZE, 1)
        tall = height + base + 4
        left = int(np.clip(x - width // 2, 2, self._image.shape[1] - width - 2))
        line = int(np.clip(y - _ABOVE, height + 4, self._image.shape[0] - base - 2))
        while line > 2 * tall and any(
            left < r and left + width > a and abs(line - b) < tall for a, r, b in self._taken
        ):
            line -= tall
        self._taken.append((left, left + width, line))
        box = (left - 2, line - height - 3), (left + width + 2, line + base)
        cv2.rectangle(self._image, *box, _GROUND, cv2.FILLED)
        colour = _SEEN if thing.visible else _REMEMBERED
        cv2.putText(self._image, words, (left, line), _FONT, _FONT_SIZE, colour, 1, cv2.LINE_AA)


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
