"""Arrangements made to fool a referee, and some that only look wrong, judged from contacts in the physics."""

from collections.abc import Mapping, Sequence
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

R, G, B = "box_red", "box_green", "box_blue"
X, EDGE = 0.5, 0.04
Place = Sequence[float]
"""x, y, and the height of the lower face above the table, metres."""

ARRANGED = yaml.safe_load(Path(__file__).with_name("arrangements.yaml").read_text())
FALSE, TRUE = ARRANGED["only look done"], ARRANGED["done"]


def judge(level: Level, places: Mapping[str, Place], touched: tuple[str, ...] = ()) -> str:
    """Let things rest for two seconds where they are put, `touched` by the robot; return the outcome."""
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
    return referee.verdict.outcome.value


@pytest.mark.parametrize("name", [*FALSE, *TRUE])
def test_what_is_done_is_a_success_and_what_only_looks_so_is_none(name: str) -> None:
    places = dict((FALSE | TRUE)[name])
    level = load_level(places.pop("level"))
    assert judge(level, places) == ("success" if name in TRUE else "running")


def test_what_stands_on_a_plate_and_is_touched_is_not_lifted() -> None:
    assert (
        judge(load_level("pickup_02"), {"plate_red": (X, 0, 0), R: (X, 0, 0.008)}, touched=(R,)) == "running"
    )


def test_a_slab_on_three_cubes_rests_on_each() -> None:
    """The one in the middle would carry nothing, if the outer ones carried it all."""
    states = [{"thing": "tray_orange", "rests_on": cube} for cube in (R, G, B)]
    level = load_level("packing_01")
    level = Level.model_validate({**level.model_dump(), "success": {"states": states}})
    y = (-0.07, 0.0, 0.07)
    cubes = {name: (X, at, 0.0) for name, at in zip((R, G, B), y, strict=True)}
    assert judge(level, {**cubes, "tray_orange": (X, 0.0, EDGE)}) == "success"
