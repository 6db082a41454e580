"""Nothing touches anything deeper than its surface when Gazebo starts.

Gazebo reports contacts also between what stands still, where MuJoCo has none: a base that reaches into its
table fails every level at its first sample. The shapes that Gazebo is given are those of the embedded
simulator (test_robot_description.py, test_gazebo_world.py).
"""

import itertools
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np
import pytest

from spca_core.arms import GROUP
from spca_core.extensions import installed
from spca_core.layout import nominal_layout
from spca_core.paths import ROOT
from spca_core.world import load_world
from spca_robot.workspace_model import build_model
from spca_sim.gazebo.write import write_all

FLUSH = 1e-5  # m: faces that only meet
WORLDS = sorted(file.stem for file in (ROOT / "worlds").glob("*.yaml"))
ARMS = sorted(f"tabletop@{arm}" for arm in installed(GROUP))


@pytest.mark.parametrize("name", [*WORLDS, *ARMS])
def test_nothing_overlaps_when_gazebo_starts(name: str) -> None:
    world = load_world(name)
    layout = nominal_layout(world)
    model, index = build_model(world, map(world.object, layout.poses))
    data = mujoco.MjData(model)
    index.set_arm(data, np.array(world.robot.home))
    index.set_gap(data, 0.085)
    for thing, pose in layout.poses.items():
        index.set_item(data, thing, pose)
    mujoco.mj_kinematics(model, data)
    for i, j in itertools.combinations(range(model.ngeom), 2):
        if index.geom_models[i] != index.geom_models[j]:
            depth = -mujoco.mj_geomDistance(model, data, i, j, 0.01, None)
            assert depth <= FLUSH, f"{index.geom_models[i]} in {index.geom_models[j]}: {1000 * depth:.2f} mm"


def test_what_stands_on_the_table_for_good_reports_no_contacts(tmp_path: Path) -> None:
    """The base meets its table face to face, which is a contact too."""
    robot = ET.parse(write_all(load_world("tabletop"), tmp_path).robot.urdf).getroot()
    sensed = {tags.get("reference") for tags in robot.findall("gazebo[sensor]")}
    assert sensed and "base_link" not in sensed
