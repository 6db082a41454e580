"""What a run leaves for its report besides the decisions: looks, contacts, and the states to draw a video from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2

from spca_core.camera import RgbdFrame
from spca_core.scene import Scene
from spca_referee.contacts import ContactInterval
from spca_sense.drawing import draw_scene
from spca_sim.recording import StateRecorder, save_states

STATES = "states.npz"
CONTACTS = "contacts.json"
LOOKS = "looks"


@dataclass
class Recording:
    """Kept in memory while the run goes on, so that it costs the run nothing; `save` writes it after the verdict."""

    looks: list[tuple[RgbdFrame, Scene]] = field(default_factory=list)
    states: StateRecorder = field(default_factory=StateRecorder)

    def on_look(self, frame: RgbdFrame, scene: Scene) -> None:
        """A listener for what Sense saw."""
        self.looks.append((frame, scene))

    def save(self, folder: Path, timeline: Sequence[ContactInterval]) -> None:
        """Write `looks/NN.png` with the detections drawn in, `looks/NN.json`, `contacts.json` and `states.npz`."""
        (folder / LOOKS).mkdir(parents=True, exist_ok=True)
        done = len(list((folder / LOOKS).glob("*.json")))  # of the part before the run was resumed
        for number, (frame, scene) in enumerate(self.looks, done + 1):
            drawn = draw_scene(frame, scene)
            cv2.imwrite(str(folder / LOOKS / f"{number:02}.png"), cv2.cvtColor(drawn, cv2.COLOR_RGB2BGR))
            (folder / LOOKS / f"{number:02}.json").write_text(scene.model_dump_json())
        (folder / CONTACTS).write_text(json.dumps([i.model_dump() for i in timeline]))
        save_states(self.states.states, folder / STATES)
