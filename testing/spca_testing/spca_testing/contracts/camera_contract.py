"""The contract of the port `Camera`."""

from __future__ import annotations

import numpy as np

from spca_core.ports.table import Camera
from spca_core.world import World


class CameraContract:
    """Subclass it with fixtures `world` and `camera`.

    The camera looks at that world's table, empty or with objects on it.
    """

    def test_it_is_calibrated_as_the_world_says(self, world: World, camera: Camera) -> None:
        """Intrinsics and pose are the world file's, and every frame carries them."""
        frame = camera.capture()
        assert camera.intrinsics == frame.intrinsics == world.camera.intrinsics
        assert camera.pose == frame.pose == world.camera.pose

    def test_colour_and_depth_are_registered(self, world: World, camera: Camera) -> None:
        """Both images have the same size and the port's types."""
        frame = camera.capture()
        shape = (world.camera.height, world.camera.width)
        assert frame.colour.shape == (*shape, 3)
        assert frame.colour.dtype == np.uint8
        assert frame.depth.shape == shape
        assert frame.depth.dtype == np.float32

    def test_there_is_a_picture(self, camera: Camera) -> None:
        """The image is neither black nor uniform."""
        frame = camera.capture()
        assert frame.colour.mean() > 30
        assert frame.colour.std() > 5

    def test_most_pixels_have_the_depth_of_the_table(self, world: World, camera: Camera) -> None:
        """Metres along the optical axis, 0 for none, nothing out of range."""
        frame = camera.capture()
        seen = frame.depth[frame.depth > 0]
        assert np.isfinite(frame.depth).all()
        assert len(seen) > 0.9 * frame.depth.size
        assert seen.min() >= world.camera.near * 0.99
        assert seen.max() <= world.camera.far * 1.01
        height = world.camera.position[2] - world.table.top
        assert abs(float(np.median(seen)) - height) < 0.005

    def test_frames_do_not_share_memory(self, camera: Camera) -> None:
        """A frame stays as it was when the next one is taken."""
        first = camera.capture()
        kept = first.colour.copy(), first.depth.copy()
        camera.capture()
        assert np.array_equal(first.colour, kept[0])
        assert np.array_equal(first.depth, kept[1])
