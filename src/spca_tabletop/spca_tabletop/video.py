"""The run's video, drawn from the recorded states after the verdict."""

from __future__ import annotations

from pathlib import Path

from spca_core.options import RunOptions
from spca_core.plan import ActResult
from spca_core.run_folder import RunFolder
from spca_sim.recording import load_states
from spca_sim.video import render_video
from spca_tabletop.presets import draw_table, load_table
from spca_tabletop.recording import STATES

VIDEO = "video.mp4"


def write_video(folder: RunFolder, options: RunOptions) -> Path:
    """Write `video.mp4` into the run's folder, captioned with the plan's steps; returns its path."""
    world, level = load_table(options)
    _, variation = draw_table(options.preset, options.seed, world, level)
    captions = [(0.0, "sense and plan")]
    for path in sorted(folder.path.glob("round_*/act_*.json")):
        for step in ActResult.model_validate_json(path.read_bytes()).steps:
            captions.append((step.started, f"{step.action}({', '.join(step.args)})"))
    path = folder.path / VIDEO
    render_video(world, load_states(folder.path / STATES), path, variation=variation, captions=captions)
    return path
