"""What cannot be resumed is refused at once, before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.run_command import resume_run
from spca_core.checkpoint import pack
from spca_core.errors import InputError
from spca_core.options import RunOptions, manifest
from spca_core.run_folder import CHECKPOINT, MANIFEST, RunFolder


def test_a_run_over_gazebo_cannot_be_resumed_inside_its_level(tmp_path: Path) -> None:
    folder = RunFolder.create("touch_02", tmp_path)
    folder.write(MANIFEST, manifest(RunOptions(level="touch_02", transport="ros")))
    folder.write(CHECKPOINT, pack({}))
    with pytest.raises(InputError, match="Gazebo cannot be brought back"):
        resume_run(folder.path)
