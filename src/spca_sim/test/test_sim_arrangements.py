"""Arrangements made to fool a referee, and some that only look wrong, judged from contacts in the physics."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from spca_core.contacts import ContactSample, pair
from spca_core.geometry import Pose
from spca_core.layout import Layout, nominal_layout
from spca_core.names import COBOT
from spca_core.world import load_world
from spca_referee.level import Level, load_level
from spca_referee.referee import Referee
from spca_sim.mujoco_world import MujocoWorld

ARRANGED = yaml.safe_load(Path(__file__).with_name("arrangements.yaml").read_text())
FALSE, TRUE = ARRANGED["only look done"], ARRANGED["done"]


@pytest.mark.parametrize("name", [*FALSE, *TRUE])
def test_what_is_done_is_a_success_and_what_only_looks_so_is_none(name: str) -> None:
    """Things rest for two seconds where they are put."""
    places = dict((FALSE | TRUE)[name])
    level, touched = load_level(places.pop("level")), places.pop("touched", [])
    if states := places.pop("states", None):
        level = Level.model_validate({**level.model_dump(), "success": {"states": states}})
    world = load_world(level.world)
    heights = {o.model: o.size[2] for o in world.objects}
    poses = {
        model: Pose.from_xyz_yaw(x, y, world.table.top + z + heights[model] / 2, 0.0)
        for model, (x, y, z) in places.items()
    }
    needed = {name for name in level.names if name in heights} - poses.keys()
    poses |= {name: pose for name, pose in nominal_layout(world).poses.items() if name in needed}
    simulator = MujocoWorld(world)
    simulator.reset(Layout(poses=poses))
    referee = Referee(level, world, poses)

    def consume(sample: ContactSample) -> None:
        referee.consume(replace(sample, pairs=sample.pairs | {pair(COBOT, name) for name in touched}))

    simulator.on_contacts(consume)
    simulator.step(2.0)
    simulator.close()
    assert referee.verdict.outcome.value == ("success" if name in TRUE else "running")
