"""The generated files through Gazebo's own program, where `gz` is on the PATH."""

import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spca_core.world import load_world
from spca_robot.description.xml import BODY_IN_OPTICAL
from spca_sim.gazebo.write import write_all

if shutil.which("gz") is None:
    pytest.skip(
        "not installed: gz (Gazebo Harmonic); apt has it from Gazebo's makers, no package registry does "
        "(docs/full-stack.md)",
        allow_module_level=True,
    )

pytestmark = pytest.mark.slow
WORLD = load_world()


def gz(*arguments: object) -> str:
    """What `gz sdf` prints; it must say nothing on the side."""
    command = ["gz", "sdf", *(str(a) for a in arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return result.stdout


def pose(text: str) -> np.ndarray:
    """SDF's pose (4×4)."""
    x, y, z, *rpy = map(float, text.split())
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = Rotation.from_euler("xyz", rpy).as_matrix(), (x, y, z)
    return matrix


def test_gazebo_takes_the_world(tmp_path):
    assert "Valid" in gz("--check", write_all(WORLD, tmp_path).world)


def test_gazebo_has_the_wrist_camera_where_the_world_says(tmp_path):
    """The link of the camera has no mass: Gazebo merges it into the wrist, and its sensor with it."""
    world = load_world("wrist")
    robot = ET.fromstring(gz("-p", write_all(world, tmp_path).robot.urdf))
    (sensor,) = robot.findall("model/link[@name='wrist_3_link']/sensor[@type='rgbd_camera']")
    (flange,) = robot.findall("model/frame[@attached_to='wrist_3_link'][@name='wrist_3_link_tool0']")
    tool0, body = (pose(element.findtext("pose")) for element in (flange, sensor))
    seen = world.wrist_camera.pose.matrix() @ BODY_IN_OPTICAL
    np.testing.assert_allclose(np.linalg.inv(tool0) @ body, seen, atol=1e-5)


def test_gazebo_takes_the_robot_with_its_camera_frames(tmp_path):
    converted = tmp_path / "cobot.sdf"
    converted.write_text(gz("-p", write_all(WORLD, tmp_path).robot.urdf))
    assert "Valid" in gz("--check", converted)
    assert "camera_color_optical_frame" in converted.read_text()
