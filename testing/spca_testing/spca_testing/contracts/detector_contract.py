"""The contract of the port `Detector`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.world import load_world
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Detector
from spca_sim.mujoco_world import MujocoWorld


class DetectorContract:
    """Subclass it with what makes the detector as `make` (see `spca_sense.detection.MakeDetector`)."""

    make: Callable[[Catalogue], Detector]

    def test_an_empty_table_shows_nothing(self) -> None:
        """The arm is out of view."""
        detector, frame = self._look({})
        assert detector.detect(frame).detections == ()

    def test_a_cube_is_where_it_lies(self) -> None:
        """Found once, within a quarter of its edge."""
        world = load_world()
        edge = world.object("box_red").size[2]
        pose = Pose.from_xyz_yaw(0.45, 0.1, world.table.top + edge / 2, 0.3)
        detector, frame = self._look({"box_red": pose})
        (found,) = detector.detect(frame).detections
        assert (found.kind, found.colour) == ("cube", "red")
        assert math.dist(found.pose.position, pose.position) < edge / 4
        assert 0 <= found.confidence <= 1

    def test_it_has_no_memory(self) -> None:
        """Equal frames give equal detections, whatever was seen in between."""
        detector, empty = self._look({})
        _, frame = self._look({"box_blue": Pose.from_xyz_yaw(0.5, -0.1, load_world().table.top + 0.02)})
        first = detector.detect(frame).detections
        detector.detect(empty)
        assert detector.detect(frame).detections == first

    def test_images_of_another_size_are_refused(self) -> None:
        """They do not fit the intrinsics."""
        detector, frame = self._look({})
        half = RgbdFrame(frame.colour[::2, ::2], frame.depth[::2, ::2], frame.intrinsics, frame.pose, 0.0)
        with pytest.raises(ValueError, match=r"\w"):
            detector.detect(half)

    def test_a_frame_without_depth_is_survived(self) -> None:
        """A camera that fails gives nothing, or doubts, and no exception."""
        detector, frame = self._look({})
        blind = RgbdFrame(frame.colour, np.zeros_like(frame.depth), frame.intrinsics, frame.pose, 0.0)
        assert detector.detect(blind).detections == ()

    def _look(self, poses: dict[str, Pose]) -> tuple[Detector, RgbdFrame]:
        world = load_world()
        simulator = MujocoWorld(world)
        simulator.reset(Layout(poses=poses))
        return type(self).make(Catalogue.from_world(world)), simulator.capture()
