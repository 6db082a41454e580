"""Sentences on tables of other worlds, from the first look to the last."""

from pathlib import Path

import pytest
import yaml

import spca
from spca_core.paths import WORLDS

pytestmark = pytest.mark.slow

DEEP = """
extends: tabletop
name: deep
objects:
  - {model: cylinder_blue, kind: cylinder, colour: [0.10, 0.22, 0.70], size: [0.04, 0.04, 0.06], mass: 0.08,
     friction: 1.0, position: [0.5, -0.2], yaw: 0.0}
  - {model: tray_green, kind: tray, colour: [0.10, 0.55, 0.16], size: [0.12, 0.18, 0.03], mass: 0.2,
     friction: 1.0, position: [0.56, 0.15], yaw: 0.0}
"""


def test_what_is_grasped_near_its_top_is_known_to_be_held(tmp_path: Path) -> None:
    """Between a deep tray's walls the fingers come down no further."""
    (tmp_path / "deep.yaml").write_text(DEEP)
    with spca.session(world=str(tmp_path / "deep.yaml"), report=False) as table:
        assert table.do("put the cylinder in the tray", out=tmp_path / "in").result.success
        back = table.do("put the cylinder on the table", out=tmp_path / "out").result
        assert back.success and back.attempts == 1, back.reason


SAID = "put the red cube on the blue plate"


def test_what_is_hidden_is_found_from_the_wrist_and_nothing_is_moved_for_it(tmp_path: Path) -> None:
    """A cube that a tall box hides from the camera above the table: a camera at the wrist looks behind it."""
    with spca.session(world="wrist", report=False) as table:
        assert {"cube_red", "cuboid_green"} <= {*table.look().observation.objects}
        run = table.do(SAID, out=tmp_path / "run")
        assert run.result.success, run.result.reason
        assert run.result.attempts == 1 and run.result.steps == 2, "the box stays where it is"


def test_without_that_camera_the_box_is_moved_first(tmp_path: Path) -> None:
    world = yaml.safe_load((WORLDS / "wrist.yaml").read_text())
    del world["wrist_camera"]
    (tmp_path / "bare.yaml").write_text(yaml.safe_dump(world))
    with spca.session(world=str(tmp_path / "bare.yaml"), report=False) as table:
        assert "cube_red" not in table.look().observation.objects
        run = table.do(SAID, out=tmp_path / "run")
        assert run.result.success and run.result.steps == 4, run.result.reason
