"""The run's video, drawn from the recorded states after the report."""

from __future__ import annotations

from pathlib import Path

import cv2

from spca_core.options import RunOptions
from spca_core.plan import ActResult, Rehearsed
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder, write_picture
from spca_core.world import World
from spca_sim.recording import load_states, recorded_states
from spca_sim.video import HD, SIZE, Banner, render_video
from spca_tabletop.presets import draw_table, load_table

VIDEO = "video.mp4"
THUMBNAIL = "thumbnail.jpg"
_THUMBNAIL_SIZE = (480, 270)  # px


def write_video(folder: RunFolder, options: RunOptions) -> Path | None:
    """Write `video.mp4` and, from its last picture, `thumbnail.jpg`; return the video's path.

    The captions are the plan's steps; how the run ended stands at the end. None without recorded states.
    """
    if not (states := recorded_states(folder.path)):
        return None
    world, level = load_table(options)
    _, variation = draw_table(options.preset, options.seed, world, level)
    captions = [(0.0, level.title)]
    captions += [
        (step.started, str(step)) for act in folder.read_stage("act", ActResult) for step in act.steps
    ]
    path = folder.path / VIDEO
    last = render_video(
        world, states, path, variation=variation, captions=captions, verdict=_banner(folder),
        size=HD if options.video == "hd" else SIZE, drawn=folder.on_video,
    )  # fmt: skip
    small = cv2.resize(cv2.cvtColor(last, cv2.COLOR_RGB2BGR), _THUMBNAIL_SIZE, interpolation=cv2.INTER_AREA)
    write_picture(folder.path / THUMBNAIL, small, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return path


def write_rehearsal_videos(folder: RunFolder, options: RunOptions) -> Path:
    """Write a video of the failing try of each rejected plan beside its record; return the run's folder."""
    for states in sorted(folder.path.glob("round_*/try_*.states.npz")):
        name = states.name.removesuffix(".states.npz")
        world = World.model_validate_json((states.parent / f"{name}.world.json").read_bytes())
        record = states.parent / f"{name.replace('try', 'rehearsal')}.json"
        tries = Rehearsed.model_validate_json(record.read_bytes()).tries
        steps, fault = next((t.result.steps, t.fault) for t in tries if t.fault)
        captions = [(0.0, "rehearsal"), *((step.started, str(step)) for step in steps)]
        render_video(
            world, load_states(states), states.parent / f"{name}.mp4", captions=captions,
            verdict=Banner(fault.sentence, False), inset=False
        )  # fmt: skip
    return folder.path


def _banner(folder: RunFolder) -> Banner | None:
    """Return a banner on how the run ended; None where it has not."""
    if not (folder.path / "result.json").is_file():
        return None
    result = folder.read("result.json", RunResult)
    return Banner(f"{result.words}: {result.reason.removeprefix(f'{result.words}, ')}", result.success)
