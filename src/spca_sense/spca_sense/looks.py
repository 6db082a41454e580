"""Writes what was seen: each picture with the detections drawn in, and the scene that was made of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2

from spca_core.camera import RgbdFrame
from spca_core.scene import Scene
from spca_sense.drawing import draw_scene


def save_looks(looks: Sequence[tuple[RgbdFrame, Scene]], folder: Path) -> None:
    """Write `NN.png` and `NN.json` for each look, counting on from what is in the folder already."""
    folder.mkdir(parents=True, exist_ok=True)
    done = len(list(folder.glob("*.json")))
    for number, (frame, scene) in enumerate(looks, done + 1):
        drawn = draw_scene(frame, scene)
        cv2.imwrite(str(folder / f"{number:02}.png"), cv2.cvtColor(drawn, cv2.COLOR_RGB2BGR))
        (folder / f"{number:02}.json").write_text(scene.model_dump_json())
