"""An episode as an animation: what there was to see, and beside it the candidates and who was chosen."""

from __future__ import annotations

import base64
import io
from textwrap import fill

import matplotlib.image
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from spca_programs.plan_world import Decision, Episode
from spca_programs.ports.plan_world import PlanWorld

_MOST_FRAMES = 24
_FRAME_MS = 1500


def animation(episode: Episode, world: PlanWorld | None) -> str:
    """An animated PNG as a data URI. The episode is played again in `world` for its pictures, if any."""
    if world is not None:
        world.reset(episode.case)
    frames = []
    for number, decision in enumerate(episode.decisions):
        if number < _MOST_FRAMES:
            frames.append(_frame(episode, number, decision, world.picture() if world is not None else b""))
        if world is not None:
            world.step(decision.candidates[decision.chosen].plan)
    if not frames:
        return ""
    out = io.BytesIO()
    frames[0].save(out, "PNG", save_all=True, append_images=frames[1:], duration=_FRAME_MS, loop=0)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def _frame(episode: Episode, number: int, decision: Decision, picture: bytes) -> Image.Image:
    figure = Figure(figsize=(9, 3.2), dpi=80, layout="constrained")
    scene, choice = figure.subplots(1, 2, width_ratios=(1, 1.25))
    scene.axis("off")
    scene.set_title(f"{episode.case.name}, decision {number + 1} of {len(episode.decisions)}", fontsize=9)
    if picture:
        scene.imshow(matplotlib.image.imread(io.BytesIO(picture)))
    else:
        scene.text(
            0, 1, fill(decision.context.text[:600], 52), va="top", fontsize=8, transform=scene.transAxes
        )
    places = range(len(decision.candidates))
    colours = ["C1" if k == decision.chosen else "0.8" for k in places]
    choice.barh(places, decision.probabilities, color=colours)
    for k, candidate in enumerate(decision.candidates):
        by = ", ".join(candidate.programs)
        choice.text(0.01, k, fill(f"{' · '.join(candidate.plan)}  ({by})", 62), va="center", fontsize=7)
    choice.set(xlim=(0, 1), yticks=[], xlabel="probability", ylim=(len(decision.candidates) - 0.5, -0.5))
    came = "; ".join(remark.text for remark in decision.remarks) or f"reward {decision.reward:+.2f}"
    choice.set_title(fill(came[:120], 70), fontsize=8, color="C3" if decision.remarks else "black")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("P", palette=Image.Palette.ADAPTIVE)
