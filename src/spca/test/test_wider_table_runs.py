"""A sentence on the table of another world, from the first look to the last."""

from pathlib import Path

import pytest

import spca

pytestmark = pytest.mark.slow


def test_what_is_hidden_is_found_from_the_wrist_and_nothing_is_moved_for_it(tmp_path: Path) -> None:
    """A cube that a tall box hides from the camera above the table: a camera at the wrist looks behind it."""
    with spca.session(world="wrist", report=False) as table:
        assert {"cube_red", "cuboid_green"} <= {*table.look().observation.objects}
        run = table.do("put the red cube on the blue plate", out=tmp_path / "run")
        assert run.result.success, run.result.reason
        assert run.result.attempts == 1 and run.result.steps == 2, "the box stays where it is"
