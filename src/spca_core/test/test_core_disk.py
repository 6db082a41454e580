"""A full disk is noticed: /dev/full is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spca_core.run_folder import is_full, write_picture


def test_a_picture_is_written(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png", np.zeros((4, 5, 3), np.uint8))
    assert (tmp_path / "a.png").read_bytes()[1:4] == b"PNG"


def test_a_picture_that_finds_no_room_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.png").symlink_to("/dev/full")
    with pytest.raises(OSError) as caught:
        write_picture(tmp_path / "a.png", np.zeros((400, 500, 3), np.uint8))
    assert is_full(caught.value)
    assert not is_full(FileNotFoundError()) and not is_full(ValueError())
