"""A cube that a tall box hides from the camera above the table: a camera at the wrist looks behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import spca
from spca_core.paths import WORLDS

SAID = "put the red cube on the blue plate"


@pytest.mark.slow
def test_what_is_hidden_is_found_from_the_wrist_and_nothing_is_moved_for_it(tmp_path: Path) -> None:
    with spca.session(world="wrist", report=False) as table:
        assert {"cube_red", "cuboid_green"} <= {*table.look().observation.objects}
        run = table.do(SAID, out=tmp_path / "run")
        assert run.result.success, run.result.reason
        assert run.result.attempts == 1 and run.result.steps == 2, "the box stays where it is"


@pytest.mark.slow
def test_without_that_camera_the_box_is_moved_first(tmp_path: Path) -> None:
    world = yaml.safe_load((WORLDS / "wrist.yaml").read_text())
    del world["wrist_camera"]
    (tmp_path / "bare.yaml").write_text(yaml.safe_dump(world))
    with spca.session(world=str(tmp_path / "bare.yaml"), report=False) as table:
        assert "cube_red" not in table.look().observation.objects
        run = table.do(SAID, out=tmp_path / "run")
        assert run.result.success and run.result.steps == 4, run.result.reason
