"""Detections of a single frame, before tracking assigns identities, and what makes them, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.extensions import find
from spca_core.geometry import Array, Pose, Vec3, wrap_angle
from spca_core.kinds import ObjectKind, Upright
from spca_core.world import World
from spca_sense.catalogue import Catalogue
from spca_sense.colours import ColourLabels
from spca_sense.view import HeightView


@dataclass(frozen=True)
class Detection(Upright):
    """One thing found in a frame.

    `pose` is its centre in `world`; `confidence` in 0-1 joins how much of it was seen with how well that fits
    the class; `known` is True if it has a size that the world knows, so that it is told how far down it
    reaches; `seen` is False for a cube that is only inferred from what stands on it (then its colour may be
    `unknown`).
    """

    kind: ObjectKind
    colour: str
    pose: Pose
    size: Vec3
    confidence: float = field(compare=False)
    seen: bool = True
    known: bool = False

    @property
    def xy(self) -> Array:
        """Position of the thing's centre on the table, (2,) in metres."""
        return np.array(self.pose.position[:2])


@dataclass(frozen=True)
class Look:
    """All that one frame gave: detections from high to low, doubts, and the images they came from."""

    view: HeightView
    colours: ColourLabels
    detections: tuple[Detection, ...]
    notes: tuple[str, ...] = field(default=())


def square_yaw(yaw: float) -> float:
    """Return a cube's yaw brought into [-π/4, π/4)."""
    return wrap_angle(yaw, np.pi / 2)


GROUP = "spca.detectors"


class Detector(Protocol):
    """Finds things in single frames and has no memory; the tracker gives them names."""

    catalogue: Catalogue

    def detect(self, frame: RgbdFrame) -> Look:
        """Return all things in sight, from high to low, with poses in `world` (metres).

        Raises ValueError for images that do not have the size of the intrinsics.
        """


MakeDetector = Callable[[Catalogue], Detector]
"""Maker of a detector from classes and sizes without positions: an entry of the group `spca.detectors`."""


def make_detector(name: str, world: World) -> Detector:
    """Return the detector of that name for a world's classes. Raises InputError when it is not installed."""
    make: MakeDetector = find(GROUP, name, where="--detector").load()
    return make(Catalogue.from_world(world))
