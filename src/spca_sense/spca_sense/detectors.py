"""Port: a detector, and how the installed ones are found by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from spca_core.camera import RgbdFrame
from spca_core.extensions import find
from spca_core.world import World
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Look

GROUP = "spca.detectors"


class Detector(Protocol):
    """Finds things in single frames and has no memory; the tracker gives them names."""

    catalogue: Catalogue

    def detect(self, frame: RgbdFrame) -> Look:
        """All things in sight, from high to low, with poses in `world` (metres).

        Raises ValueError for images that do not have the size of the intrinsics.
        """
        ...


MakeDetector = Callable[[Catalogue], Detector]
"""What an entry of the group `spca.detectors` names; it is given classes and sizes, but no positions."""


def make_detector(name: str, world: World) -> Detector:
    """The detector of that name for a world's classes. Raises InputError when it is not installed."""
    make: MakeDetector = find(GROUP, name, where="--detector").load()
    return make(Catalogue.from_world(world))
