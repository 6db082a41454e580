"""What a run leaves for its report besides the decisions: looks, contacts, and the states to draw a video from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spca_core.camera import RgbdFrame
from spca_core.scene import Scene
from spca_referee.contacts import ContactInterval, save_timeline
from spca_sense.looks import save_looks
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
        """Write the files of `looks/` (see `save_looks`), `contacts.json` and `states.npz`."""
        save_looks(self.looks, folder / LOOKS)
        save_timeline(timeline, folder / CONTACTS)
        save_states(self.states.states, folder / STATES)
