"""The generated files through the real sdformat library, where its development files are installed.

On Debian 12 that is `apt install libsdformat-dev pkg-config g++` (sdformat 12); with Gazebo Harmonic,
sdformat 14.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from spca_core.layout import random_layout
from spca_core.world import load_world
from spca_robot.gripper_model import BODIES
from spca_sim.gazebo.write import write_all

WORLD = load_world()
SOURCE = Path(__file__).with_name("sdf_facts.cpp")


def library() -> str | None:
    """pkg-config's name of an installed sdformat, or None."""
    if shutil.which("pkg-config") is None or shutil.which("g++") is None:
        return None
    for version in (14, 13, 12):
        if subprocess.run(["pkg-config", "--exists", f"sdformat{version}"], check=False).returncode == 0:
            return f"sdformat{version}"
    return None


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        library() is None, reason="the sdformat library (libsdformat-dev), pkg-config or g++ is missing"
    ),
]


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdformat")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", str(library())], capture_output=True, text=True, check=True
    ).stdout.split()
    program = folder / "sdf_facts"
    subprocess.run(["g++", "-std=c++17", str(SOURCE), "-o", program, *flags], check=True)

    def read(path: Path) -> list[list[str]]:
        result = subprocess.run([program, path], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        assert "Warning" not in result.stderr and "Error" not in result.stderr, result.stderr
        return [line.split() for line in result.stdout.splitlines()]

    return read


def sensors_and_collisions(facts: list[list[str]]) -> list[tuple[set[str], set[str]]]:
    """Per link: its collisions, and those that a contact sensor names."""
    links: list[tuple[set[str], set[str]]] = []
    for fact in facts:
        if fact[0] == "link":
            links.append((set(), set()))
        elif fact[0] == "collision":
            links[-1][0].add(fact[1])
        elif fact[:2] == ["sensor", "contact"]:
            links[-1][1].update(fact[2:])
    return links


def test_the_world_is_sound_and_every_object_has_its_contact_sensor(facts, tmp_path):
    files = write_all(WORLD, tmp_path, random_layout(WORLD, 4))
    found = facts(files.world)
    models = [f[1] for f in found if f[0] == "model"]
    assert sorted(models) == sorted(
        [*(n for n in WORLD.model_names if n != WORLD.robot.model), WORLD.camera.name]
    )
    links = [entry for entry in sensors_and_collisions(found) if entry[1]]
    assert len(links) == len(WORLD.objects)
    assert all(collisions == sensed for collisions, sensed in links)
    masses = {f[1] for f in found if f[0] == "link"}
    assert masses == {"link"}
    assert ["sensor", "rgbd_camera", "600", "camera_color_optical_frame"] in found


def test_the_robot_becomes_sdf_with_all_its_links_and_sensors(facts, tmp_path):
    files = write_all(WORLD, tmp_path)
    found = facts(files.robot.urdf)
    assert [f[1] for f in found if f[0] == "model"] == [WORLD.robot.model]
    links = {f[1]: float(f[2]) for f in found if f[0] == "link"}
    assert len(links) == 1 + 6 + len(BODIES)
    assert sum(links.values()) == pytest.approx(4.0 + 17.0479 + 0.9, abs=0.01)
    base, *moving = sensors_and_collisions(found)
    assert base[0] and not base[1]
    assert all(collisions and collisions == sensed for collisions, sensed in moving)
