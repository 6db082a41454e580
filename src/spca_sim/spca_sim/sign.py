"""Text printed on things, as a texture of their MuJoCo geom: both renderers show it."""

from __future__ import annotations

import textwrap

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.geometry import Vec3
from spca_core.world import WorldObject
from spca_robot.windowless import mujoco

_PIXELS_PER_METRE = 4000.0
_INK = 0.05  # reflectance
_MARGIN = 0.08  # of the sign's height, all around
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_LINES = range(1, 9)

Texture = NDArray[np.uint8]


def print_text(spec: mujoco.MjSpec, thing: WorldObject) -> None:
    """Put a sign's text on its geom."""
    image = texture(thing.text, thing.size, thing.colour)
    name = f"{thing.model}/print"
    height, width = image.shape[:2]
    print_ = spec.add_texture(
        name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=3
    )
    print_.data = image.tobytes()
    material = spec.add_material(name=name)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    for geom in spec.body(thing.model).geoms:
        geom.material = name
        geom.rgba = (1, 1, 1, 1)  # MuJoCo multiplies the two


def texture(text: str, size: Vec3, colour: Vec3) -> Texture:
    """Return RGB pixels as MuJoCo lays them over a face: columns along the body's x, rows against its y.

    The text reads with +x up and +y to the left, as the workspace camera sees it, so it lies on its side
    here.
    """
    height, width = (max(8, round(s * _PIXELS_PER_METRE)) for s in size[:2])  # x is up, y is across
    page = np.empty((height, width, 3), np.uint8)
    page[:] = np.round(np.array(colour) * 255)
    lines, scale, stroke = _layout(text, width * (1 - 2 * _MARGIN), height * (1 - 2 * _MARGIN))
    pitch = height * (1 - 2 * _MARGIN) / len(lines)
    for i, line in enumerate(lines):
        (across, up), _ = cv2.getTextSize(line, _FONT, scale, stroke)
        at = (round((width - across) / 2), round(height * _MARGIN + pitch * (i + 0.5) + up / 2))
        cv2.putText(page, line, at, _FONT, scale, (round(_INK * 255),) * 3, stroke, cv2.LINE_AA)
    return np.ascontiguousarray(np.rot90(page, -1))


def _layout(text: str, width: float, height: float) -> tuple[list[str], float, int]:
    """Return the lines, font scale and stroke with which the text is as large as it can be."""
    best: tuple[list[str], float] = ([text], 0.0)
    for count in _LINES:
        lines = textwrap.wrap(text, max(1, -(-len(text) // count))) or [""]
        widest = max(cv2.getTextSize(line, _FONT, 1.0, 2)[0][0] for line in lines)
        scale = min(
            width / max(widest, 1), height / len(lines) / 36.0
        )  # a line of this font is 36 pixels apart
        if scale > best[1]:
            best = lines, scale
    return *best, max(1, round(best[1] * 2))


class Prints:
    """Looks up what is printed on the geoms of a compiled model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._textures: dict[int, Texture] = {}
        self._sizes = model.geom_size
        for geom in range(model.ngeom):
            material = int(model.geom_matid[geom])
            if material < 0:
                continue
            number = int(model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB])
            if number < 0:
                continue
            start, height, width = (
                int(a[number]) for a in (model.tex_adr, model.tex_height, model.tex_width)
            )
            pixels = model.tex_data[start : start + height * width * 3]
            self._textures[geom] = np.array(pixels).reshape(height, width, 3)

    @property
    def geoms(self) -> tuple[int, ...]:
        """Ids of the geoms that something is printed on."""
        return tuple(self._textures)

    def colours(self, geom: int, points: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the reflectance (N, 3) at `points` (N, 3) in the geom's frame."""
        image = self._textures[geom]
        height, width = image.shape[:2]
        half = self._sizes[geom]
        column = np.floor((points[:, 0] / (2 * half[0]) + 0.5) * width).astype(int).clip(0, width - 1)
        row = np.floor((0.5 - points[:, 1] / (2 * half[1])) * height).astype(int).clip(0, height - 1)
        return (image[row, column] / np.float32(255)).astype(np.float32)
