"""Recorded frames fulfil the Camera contract, and an invalid file is reported in one clear line."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spca_core.errors import InputError
from spca_core.layout import nominal_layout, random_layout
from spca_core.world import World
from spca_sense.recorded_camera import RecordedCamera, load_frame, save_frame
from spca_testing.contracts.camera_contract import CameraContract


@pytest.fixture(scope="module")
def folder(studio: Any, world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables."""
    folder = tmp_path_factory.mktemp("frames")
    save_frame(studio.shoot(dict(nominal_layout(world).poses)), folder / "01")
    save_frame(studio.shoot(dict(random_layout(world, 2).poses)), folder / "02")
    return folder


class TestRecordedCamera(CameraContract):
    @pytest.fixture
    def camera(self, folder: Path) -> RecordedCamera:
        return RecordedCamera(folder)


def test_frames_come_in_order_and_then_again(folder: Path) -> None:
    camera = RecordedCamera(folder)
    first, second, again = (camera.capture() for _ in range(3))
    assert not np.array_equal(first.colour, second.colour)
    assert np.array_equal(first.depth, again.depth) and first.stamp == again.stamp


def test_what_is_no_recording_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no recorded frames"):
        RecordedCamera(tmp_path)
    bad = tmp_path / "01.npz"
    with zipfile.ZipFile(bad, "w"):
        pass
    with pytest.raises(InputError, match="not a recorded frame"):
        load_frame(bad)
    np.savez(bad, **{**dict(np.load(folder / "01.npz")), "depth": np.zeros((2, 2))})
    with pytest.raises(InputError, match=r"float64\(2, 2\)"):
        load_frame(bad)
