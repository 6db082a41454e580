"""Pictures of a finished run, drawn by MiniGrid from the run's seed and primitives.

They are for people; the agent never sees them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.plan import ActResult
from spca_core.run_folder import RunFolder, write_picture
from spca_core.skill import StepReport
from spca_minigrid.environment import PRIMITIVES
from spca_minigrid.kit import MinigridKit
from spca_minigrid.levels import find_level
from spca_minigrid.world import GridWorld

ANIMATION = "animation.webp"
_SIDE = 384  # px of the longer side of the level
_BAND = 26  # px for the caption
_MOVE_MS, _END_MS = 160, 2000  # how long a picture of the animation stays
_MOST_FRAMES = 400
_JPEG = [cv2.IMWRITE_JPEG_QUALITY, 88]

Picture = NDArray[np.uint8]  # (H, W, 3), BGR


def write_looks(folder: RunFolder, options: RunOptions) -> Path:
    """Write `looks/NN.jpg`: the level at the beginning and after every step of a plan, with what was done."""
    steps = _steps(folder)
    wanted = {0: f"The level at its beginning: {_world(options).mission}."}
    for step in steps:
        said = f"After {step}"
        wanted[round(step.ended)] = f"{said}." if step.status == "done" else f"{said}: {step.status}."
    looks = folder.path / "looks"
    looks.mkdir(exist_ok=True)
    for old in looks.iterdir():
        old.unlink()
    pictures = ((done, picture) for done, picture in _replay(folder, options) if done in wanted)
    for number, (done, picture) in enumerate(pictures, 1):
        write_picture(looks / f"{number:02}.jpg", picture, _JPEG)
        (looks / f"{number:02}.json").write_text(json.dumps({"stamp": done, "sentences": [wanted[done]]}))
    return looks


def write_animation(folder: RunFolder, options: RunOptions) -> Path:
    """Write `animation.webp` and `thumbnail.jpg`.

    The animation has a picture per primitive; those of long runs are thinned out.
    """
    steps = _steps(folder)
    drawn = list(_replay(folder, options))
    every = -(-len(drawn) // _MOST_FRAMES)
    chosen = [*drawn[:-1:every], drawn[-1]]
    animation = cv2.Animation()
    animation.frames = [_captioned(picture, done, steps) for done, picture in chosen]
    animation.durations = [_MOVE_MS] * (len(chosen) - 1) + [_END_MS]
    path = folder.path / ANIMATION
    cv2.imwriteanimation(str(path), animation, [cv2.IMWRITE_WEBP_QUALITY, 70])
    write_picture(folder.path / "thumbnail.jpg", drawn[-1][1], _JPEG)
    return path


def _replay(folder: RunFolder, options: RunOptions) -> Iterator[tuple[int, Picture]]:
    """Yield the number of primitives done, and the level then; the part that the agent sees is lit up."""
    path = folder.path / PRIMITIVES
    try:
        primitives = [int(p) for p in json.loads(path.read_text())["primitives"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError("not the primitives of a run", where=str(path), hint=str(error)) from error
    world = _world(options)
    yield 0, _draw(world.env)
    for done, primitive in enumerate(primitives, 1):
        world.step(primitive)
        yield done, _draw(world.env)


def _world(options: RunOptions) -> GridWorld:
    return GridWorld(find_level(options.level.removeprefix(f"{MinigridKit.name}:")).env, options.seed)


def _draw(env: Any) -> Picture:
    tile = max(8, _SIDE // max(env.width, env.height))
    rgb: Picture = env.get_frame(highlight=True, tile_size=tile)
    return np.ascontiguousarray(rgb[..., ::-1])


def _captioned(picture: Picture, done: int, steps: Sequence[StepReport]) -> Picture:
    """Return the picture with what is being done below it."""
    doing = next((s for s in steps if s.started < done <= s.ended), None)
    text = f"{done}" if doing is None else f"{done}  {doing}"
    framed = cv2.copyMakeBorder(picture, 0, _BAND, 0, 0, cv2.BORDER_CONSTANT, value=(40, 40, 40))
    at = (6, framed.shape[0] - 8)
    cv2.putText(framed, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
    return np.asarray(framed, dtype=np.uint8)


def _steps(folder: RunFolder) -> list[StepReport]:
    return [step for act in folder.read_stage("act", ActResult) for step in act.steps]
