"""Makes a video of recorded states: H.264 in MP4, small enough to go into a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.camera import CameraIntrinsics
from spca_core.errors import InputError
from spca_core.world import World
from spca_sim.lighting import Lighting
from spca_sim.physics_model import build_physics
from spca_sim.ray_renderer import RayRenderer
from spca_sim.state import SimState
from spca_sim.variation import SimVariation
from spca_sim.view import View, overview, sensor_view

_INSET_SHARE = 0.3  # of the picture's width
_MARGIN = 8  # px
_WHITE, _SHADE = (255, 255, 255), (40, 40, 40)

Frame = NDArray[np.uint8]


def render_video(
    world: World,
    states: Sequence[SimState],
    path: Path,
    *,
    variation: SimVariation | None = None,
    captions: Sequence[tuple[float, str]] = (),
    size: tuple[int, int] = (480, 360),
    fps: float = 12.0,
    speed: float = 2.0,
    inset: bool = True,
) -> None:
    """Draw the states, `speed` times as fast as simulated, and write them to `path` (`.mp4`).

    `captions` are (simulated seconds, text): each is shown from its time on. `size` is in pixels, even numbers.
    `inset` adds what the sensor's camera sees. InputError when there is nothing to draw.
    """
    if not states:
        raise InputError("no states to make a video of", where=str(path))
    camera = _Cameraman(world, variation or SimVariation(), size, inset)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000))
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": "27", "preset": "veryfast"}
        for state in _at_rate(states, speed / fps):
            picture = camera.shoot(state, _caption_at(captions, state.stamp))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def render_still(
    world: World, state: SimState, size: tuple[int, int] = (480, 360), inset: bool = False
) -> Frame:
    """One picture (H, W, 3) of a state, as the video would show it."""
    return _Cameraman(world, SimVariation(), size, inset).shoot(state, "")


class _Cameraman:
    """Holds the renderers of each set of objects that turns up."""

    def __init__(self, world: World, variation: SimVariation, size: tuple[int, int], inset: bool) -> None:
        self._world, self._variation = world, variation
        self._views = [overview(world, *size)]
        if inset:
            self._views.append(_scaled(sensor_view(world, variation), round(size[0] * _INSET_SHARE)))
        self._renderers: dict[tuple[str, ...], list[RayRenderer]] = {}

    def shoot(self, state: SimState, caption: str) -> Frame:
        """The picture of a state."""
        if state.objects not in self._renderers:
            model, _ = build_physics(self._world, state.objects, self._variation)
            lighting = Lighting.of(self._world, self._variation)
            self._renderers[state.objects] = [RayRenderer(model, view, lighting) for view in self._views]
        picture, *insets = (r.render(state.qpos)[0] for r in self._renderers[state.objects])
        for small in insets:
            framed = cv2.copyMakeBorder(small, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=_WHITE)
            h, w = framed.shape[:2]
            picture[_MARGIN : _MARGIN + h, -_MARGIN - w : -_MARGIN] = framed
        _write(picture, f"{state.stamp:5.1f} s", bottom=False)
        _write(picture, caption, bottom=True)
        return picture


def _at_rate(states: Sequence[SimState], interval: float) -> Iterator[SimState]:
    """The states nearest after every `interval` seconds of lived time (a clock set back counts as no time)."""
    lived, due, before = 0.0, 0.0, states[0].stamp
    for state in states:
        lived += max(0.0, state.stamp - before)
        before = state.stamp
        if lived >= due - 1e-6:
            yield state
            due = max(due + interval, lived)


def _caption_at(captions: Sequence[tuple[float, str]], stamp: float) -> str:
    begun = [text for start, text in captions if start <= stamp + 1e-6]
    return begun[-1] if begun else ""


def _scaled(view: View, width: int) -> View:
    """The same view in fewer pixels."""
    c = view.intrinsics
    k = width / c.width
    return View(
        view.pose,
        CameraIntrinsics(
            width=width,
            height=round(c.height * k),
            fx=c.fx * k,
            fy=c.fy * k,
            cx=(c.cx + 0.5) * k - 0.5,
            cy=(c.cy + 0.5) * k - 0.5,
        ),
    )


def _write(picture: Frame, text: str, bottom: bool) -> None:
    """Put a line of text into a picture's left corner."""
    x, y = _MARGIN, picture.shape[0] - _MARGIN if bottom else _MARGIN + 12
    for at, colour in (((x + 1, y + 1), _SHADE), ((x, y), _WHITE)):
        cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, 1, cv2.LINE_AA)
