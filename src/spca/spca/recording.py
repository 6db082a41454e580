"""What a run leaves for its report besides the decisions: looks, contacts, and the states to draw a video from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.scene import Scene
from spca_referee.contacts import ContactInterval
from spca_sense.drawing import draw_scene
from spca_sim.state import SimState

STATES = "states.npz"
CONTACTS = "contacts.json"
LOOKS = "looks"


@dataclass
class Recording:
    """Kept in memory while the run goes on, so that it costs the run nothing; `save` writes it after the verdict."""

    looks: list[tuple[RgbdFrame, Scene]] = field(default_factory=list)
    states: list[SimState] = field(default_factory=list)
    every: int = 2
    """Keep every n-th state."""
    _count: int = 0

    def on_state(self, state: SimState) -> None:
        """A listener for the simulator's samples. A clock that went back forgets what is no longer true."""
        while self.states and self.states[-1].stamp >= state.stamp:
            self.states.pop()
        if self._count % self.every == 0:
            self.states.append(state)
        self._count += 1

    def on_look(self, frame: RgbdFrame, scene: Scene) -> None:
        """A listener for what Sense saw."""
        self.looks.append((frame, scene))

    def save(self, folder: Path, timeline: Sequence[ContactInterval]) -> None:
        """Write `looks/NN.png` with the detections drawn in, `looks/NN.json`, `contacts.json` and `states.npz`."""
        (folder / LOOKS).mkdir(parents=True, exist_ok=True)
        for number, (frame, scene) in enumerate(self.looks, 1):
            drawn = draw_scene(frame, scene)
            cv2.imwrite(str(folder / LOOKS / f"{number:02}.png"), cv2.cvtColor(drawn, cv2.COLOR_RGB2BGR))
            (folder / LOOKS / f"{number:02}.json").write_text(scene.model_dump_json())
        (folder / CONTACTS).write_text(json.dumps([i.model_dump() for i in timeline]))
        if self.states:
            save_states(folder / STATES, self.states)


def save_states(path: Path, states: Sequence[SimState]) -> None:
    """Write states of one set of objects as a compressed array file."""
    np.savez_compressed(
        path,
        stamps=np.array([s.stamp for s in states]),
        qpos=np.array([s.qpos for s in states], dtype=np.float32),
        objects=np.array(states[0].objects),
    )


def load_states(path: Path) -> list[SimState]:
    """The states of a file that `save_states` wrote; empty if there is none."""
    if not path.is_file():
        return []
    with np.load(path) as data:
        objects = tuple(str(o) for o in data["objects"])
        return [
            SimState(float(t), objects, np.asarray(q, dtype=float))
            for t, q in zip(data["stamps"], data["qpos"], strict=True)
        ]
