"""The generated files through Gazebo's own program, where `gz` is on the PATH."""

import shutil
import subprocess

import pytest

from spca_core.world import load_world
from spca_sim.gazebo.write import write_all

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("gz") is None, reason="the program gz (Gazebo Harmonic) is missing"),
]
WORLD = load_world()


def gz(*arguments: object) -> str:
    """What `gz sdf` prints; it must say nothing on the side."""
    command = ["gz", "sdf", *(str(a) for a in arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return result.stdout


def test_gazebo_takes_the_world(tmp_path):
    assert "Valid" in gz("--check", write_all(WORLD, tmp_path).world)


def test_gazebo_takes_the_robot_with_its_camera_frames(tmp_path):
    converted = tmp_path / "cobot.sdf"
    converted.write_text(gz("-p", write_all(WORLD, tmp_path).robot.urdf))
    assert "Valid" in gz("--check", converted)
    assert "camera_color_optical_frame" in converted.read_text()
