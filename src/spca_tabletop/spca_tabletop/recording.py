"""Recording of a run for its report, besides the decisions.

That is looks, contacts, and the states from which a video is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spca_core.camera import RgbdFrame
from spca_core.scene import Scene
from spca_referee.contacts import ContactInterval, save_timeline
from spca_sense.looks import save_looks
from spca_sim.disturbances.recorder import DisturbanceRecorder
from spca_sim.recording import StateRecorder, save_states

STATES = "states.npz"
CONTACTS = "contacts.json"
LOOKS = "looks"


@dataclass
class Recording:
    """Keeps everything in memory during the run, so that the run is not slowed down.

    `save` writes it after the verdict.
    """

    looks: list[tuple[RgbdFrame, Scene]] = field(default_factory=list)
    states: StateRecorder = field(default_factory=StateRecorder)
    disturbances: DisturbanceRecorder = field(default_factory=DisturbanceRecorder)

    def clear(self) -> None:
        """Forget everything, for the next run."""
        self.looks.clear()
        self.states.states.clear()
        self.disturbances.clear()

    def save(self, folder: Path, timeline: Sequence[ContactInterval]) -> None:
        """Write `looks/` (see `save_looks`), `disturbances/`, `contacts.json` and `states.npz`."""
        save_looks(self.looks, folder / LOOKS)
        save_timeline(timeline, folder / CONTACTS)
        save_states(self.states.states, folder / STATES)
        self.disturbances.save(folder)
