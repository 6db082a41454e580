"""Things of any kind and size on one table, found without knowing what there is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from spca_core.geometry import Pose
from spca_core.layout import nominal_layout, random_layout
from spca_core.names import symbol_of
from spca_core.world import World, load_world
from spca_sense.catalogue import Catalogue
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_sim.variation import draw_variation

ONE_BY_ONE = yaml.safe_load(Path(__file__).with_name("one_by_one.yaml").read_text())


@pytest.fixture(scope="module")
def crowd() -> World:
    return load_world("crowd")


def detector_for(world: World) -> ShapeDetector:
    return ShapeDetector(Catalogue.from_world(world))


@pytest.mark.parametrize("seed", [None, 3])
def test_twelve_things_of_every_kind_are_found(crowd: World, open_studio, check, seed: int | None) -> None:
    poses = (nominal_layout(crowd) if seed is None else random_layout(crowd, seed)).poses
    variation = None if seed is None else draw_variation("hard", seed)
    look = detector_for(crowd).detect(open_studio(crowd, variation).shoot(poses))
    check(look, poses, 2.5 if seed is None else 6.0, None, crowd)


def test_what_has_no_known_colour_is_an_obstacle(crowd: World, open_studio) -> None:
    grey = crowd.object("cuboid_pink").model_copy(update={"colour": (0.5, 0.5, 0.49)})
    world = crowd.model_copy(update={"objects": (grey, crowd.object("bowl_blue"))})
    frame = open_studio(world).shoot(nominal_layout(world).poses)
    tracker = SceneTracker(detector_for(world))
    for _ in range(2):
        scene = tracker.update(frame)
        assert [(o.id, o.kind) for o in scene.objects] == [("bowl_blue", "bowl"), ("unknown", "unknown")]
    obstacle = scene.objects[1]
    assert np.allclose(obstacle.pose.position[:2], grey.position, atol=0.01)
    assert max(np.subtract(grey.size, sorted(obstacle.size, reverse=True))) < 0.01
    assert scene.holds("on", "unknown", "table")


def placed(world: World, things: Mapping[str, Sequence[Any]]) -> tuple[World, dict[str, Pose]]:
    """A world of things by model, of a kind and size at (x, y, yaw), some above the table, as in the file."""
    blank = world.objects[0]
    colours = {symbol_of(o.model).split("_")[1]: o.colour for o in world.objects}
    objects, poses = [], {}
    for model, (kind, size, (x, y, yaw), *raised) in things.items():
        colour = colours[symbol_of(model).split("_")[1]]
        objects.append(
            blank.model_copy(update={"model": model, "kind": kind, "size": tuple(size), "colour": colour})
        )
        poses[model] = Pose.from_xyz_yaw(x, y, world.table.top + sum(raised) + size[2] / 2, yaw)
    return world.model_copy(update={"objects": tuple(objects)}), poses


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_things_are_seen_one_by_one(crowd: World, open_studio, check, name: str) -> None:
    things = dict(ONE_BY_ONE[name])
    within, degrees = things.pop("within", 0.004), things.pop("degrees", None)
    hidden = things.pop("hidden", ())
    world, poses = placed(crowd, things)
    look = detector_for(world).detect(open_studio(world).shoot(poses))
    visible = {model: pose for model, pose in poses.items() if model not in hidden}
    check(look, visible, 1000 * within, degrees, world)
