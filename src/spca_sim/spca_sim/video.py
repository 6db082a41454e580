"""Makes a video of recorded states: H.264 in MP4, small enough to send around."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.camera import CameraIntrinsics
from spca_core.errors import InputError
from spca_core.stopping import Closing
from spca_core.world import World
from spca_sim.physics_model import build_physics
from spca_sim.ray_renderer import RayRenderer
from spca_sim.recording import SimState
from spca_sim.variation import Lighting, SimVariation
from spca_sim.view import CameraView, overview, sensor_view

SIZE, HD = (640, 360), (1280, 720)
"""Width and height of a video in pixels, usually and on request."""

_INSET_SHARE = 0.24  # of the picture's width
_MARGIN = 8  # px
_WHITE, _SHADE = (255, 255, 255), (40, 40, 40)
_GREEN, _RED = (70, 190, 110), (225, 75, 60)
_END_S = 2.5  # s for which the last picture stays, with the verdict
_AT_REST = 2e-4  # rad and m; a state that differs less from the previous one is not redrawn

Frame = NDArray[np.uint8]


@dataclass(frozen=True)
class Banner:
    """The caption of the last picture: the verdict in one line."""

    text: str
    good: bool


def render_video(
    world: World,
    states: Sequence[SimState],
    path: Path,
    *,
    variation: SimVariation | None = None,
    captions: Sequence[tuple[float, str]] = (),
    verdict: Banner | None = None,
    size: tuple[int, int] = SIZE,
    fps: float = 12.0,
    speed: float = 2.0,
    inset: bool = True,
    drawn: Callable[[int, int], None] = lambda done, total: None,
) -> Frame:
    """Draw the states, `speed` times as fast as simulated, and write them to `path` (`.mp4`).

    `captions` are (simulated seconds, text): each is shown from its time on. `verdict` is shown at the end,
    for a few seconds. `size` is in pixels, even numbers. `inset` adds what the sensor's camera sees. The
    speed is written in the picture. Beside the video, a file `.json` says the simulated time of each picture.
    `drawn` hears how many pictures are done, and of how many.
    Returns the last picture (H, W, 3). Raises InputError when there is nothing to draw.
    """
    if not states:
        raise InputError("no states to make a video of", where=str(path))
    shown = list(_at_rate(states, speed / fps))
    variation = variation or SimVariation()
    views = [overview(world, *size)]
    if inset:
        views.append(_scaled(sensor_view(world.camera, variation), round(size[0] * _INSET_SHARE)))
    scenes = _Scenes(world, variation, views)
    with Mp4(path, size, fps) as file:
        for number, (state, scene) in enumerate(zip(shown, _in_order(scenes, shown), strict=True)):
            drawn(number, len(shown))
            picture = scene.copy()
            _write(picture, f"{state.stamp:.1f} s  ({speed:g}x speed)", bottom=False)
            begun = [text for start, text in captions if start <= state.stamp + 1e-6]
            _write(picture, "".join(begun[-1:]), bottom=True)
            file.add(picture)
        if verdict is not None:
            picture = _with_banner(picture, verdict)
            for _ in range(round(_END_S * fps)):
                file.add(picture)
    stamps = [round(state.stamp, 3) for state in shown]
    path.with_suffix(".json").write_text(json.dumps({"fps": fps, "stamps": stamps}))
    return picture


def sensor_pictures(world: World, states: Sequence[SimState], variation: SimVariation) -> Iterator[Frame]:
    """Yield each state as the sensor's camera sees it, without noise: pictures (H, W, 3) in their order."""
    return _in_order(_Scenes(world, variation, [sensor_view(world.camera, variation)]), states)


class Mp4(Closing):
    """An H.264 file that pictures are added to. Use as a context manager.

    `size` is in pixels, even numbers.
    """

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        self._container = av.open(str(path), "w", options={"movflags": "+faststart"})
        self._stream = self._container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000))
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "27", "preset": "veryfast"}

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._container.mux(self._stream.encode())
        self._container.close()

    def add(self, picture: Frame) -> None:
        """Add one picture (H, W, 3), RGB."""
        self._container.mux(self._stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))


def _in_order(scenes: _Scenes, states: Iterable[SimState]) -> Iterator[Frame]:
    """Yield the pictures of the states, drawn by all cores; what stays at rest is drawn once."""
    cores = min(len(os.sched_getaffinity(0)), 4)
    pending: deque[Future[Frame]] = deque()
    drawn: SimState | None = None
    with ThreadPoolExecutor(cores) as pool:  # MuJoCo and OpenCV work without the interpreter's lock
        for state in states:
            same = drawn is not None and state.objects == drawn.objects
            if drawn is None or not same or np.abs(state.qpos - drawn.qpos).max() >= _AT_REST:
                drawn, future = state, pool.submit(scenes.draw, state)
            pending.append(future)
            if len(pending) > 2 * cores:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


class _Scenes:
    """Draws states.

    Every thread has its own renderers, one for each view and set of objects that turns up.
    """

    def __init__(self, world: World, variation: SimVariation, views: Sequence[CameraView]) -> None:
        self._world, self._variation, self._views = world, variation, views
        self._own = threading.local()

    def draw(self, state: SimState) -> Frame:
        """Return the picture (H, W, 3) of a state, without any text."""
        picture, *insets = (r.render(state.qpos)[0] for r in self._renderers(state.objects))
        for small in insets:
            framed = cv2.copyMakeBorder(small, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=_WHITE)
            h, w = framed.shape[:2]
            picture[_MARGIN : _MARGIN + h, -_MARGIN - w : -_MARGIN] = framed
        return picture

    def _renderers(self, objects: tuple[str, ...]) -> list[RayRenderer]:
        mine: dict[tuple[str, ...], list[RayRenderer]] = self._own.__dict__.setdefault("renderers", {})
        if objects not in mine:
            model, _ = build_physics(self._world, objects, self._variation)
            lighting = Lighting.of(self._world, self._variation)
            mine[objects] = [RayRenderer(model, view, lighting) for view in self._views]
        return mine[objects]


def _at_rate(states: Sequence[SimState], interval: float) -> Iterator[SimState]:
    """Yield the states nearest to every `interval` seconds of elapsed time.

    A clock set back counts as no time.
    """
    lived, due, before = 0.0, 0.0, states[0].stamp
    for state in states:
        lived += max(0.0, state.stamp - before)
        before = state.stamp
        if lived >= due - 1e-6:
            yield state
            due = max(due + interval, lived)


def _scaled(view: CameraView, width: int) -> CameraView:
    """Return the same view in fewer pixels."""
    c = view.intrinsics
    k = width / c.width
    middle = {"cx": (c.cx + 0.5) * k - 0.5, "cy": (c.cy + 0.5) * k - 0.5}
    lens = CameraIntrinsics(width=width, height=round(c.height * k), fx=c.fx * k, fy=c.fy * k, **middle)
    return CameraView(view.pose, lens)


def _with_banner(picture: Frame, verdict: Banner) -> Frame:
    """Return the picture with a band across it that says the verdict, in as large a type as fits."""
    picture = picture.copy()
    height, width = picture.shape[:2]
    band = picture[round(0.78 * height) : round(0.9 * height)]
    band[:] = np.asarray(0.25 * band + 0.75 * np.array(_GREEN if verdict.good else _RED), np.uint8)
    scale = _scale(picture) * 1.6
    (long, tall), _ = cv2.getTextSize(verdict.text, cv2.FONT_HERSHEY_SIMPLEX, scale, 2)
    scale *= min(1.0, (width - 4 * _MARGIN) / long)
    (long, tall), _ = cv2.getTextSize(verdict.text, cv2.FONT_HERSHEY_SIMPLEX, scale, 2)
    at = ((width - long) // 2, (band.shape[0] + tall) // 2)
    cv2.putText(band, verdict.text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, _WHITE, 2, cv2.LINE_AA)
    return picture


def _scale(picture: Frame) -> float:
    """Return the scale of OpenCV's letters: readable at any size of picture."""
    return max(0.5, picture.shape[0] / 900)


def _write(picture: Frame, text: str, bottom: bool) -> None:
    """Put a line of text into a picture's left corner."""
    scale = _scale(picture)
    x, y = _MARGIN, picture.shape[0] - 2 * _MARGIN if bottom else round(_MARGIN + 24 * scale)
    for dx, dy, colour in ((1, 1, _SHADE), (-1, 1, _SHADE), (2, 2, _SHADE), (0, 0, _WHITE)):
        at = (x + dx, y + dy)
        cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, colour, 1, cv2.LINE_AA)
