"""Recording of a run for its report, besides the decisions and what the world records: looks and contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spca_core.camera import RgbdFrame
from spca_core.scene import Scene
from spca_referee.contacts import ContactInterval, save_timeline
from spca_sense.drawing import save_looks

CONTACTS = "contacts.json"
LOOKS = "looks"


@dataclass
class Recording:
    """Keeps everything in memory during the run, so that the run is not slowed down.

    `save` writes it after the verdict.
    """

    looks: list[tuple[RgbdFrame, Scene]] = field(default_factory=list)

    def clear(self) -> None:
        """Forget everything, for the next run."""
        self.looks.clear()

    def save(self, folder: Path, timeline: Sequence[ContactInterval]) -> None:
        """Write `looks/` (see `save_looks`) and `contacts.json`."""
        save_looks(self.looks, folder / LOOKS)
        save_timeline(timeline, folder / CONTACTS)
