"""Things of any kind and size on one table, found without knowing what there is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import yaml

from spca_core.geometry import Pose
from spca_core.layout import nominal_layout, random_layout
from spca_core.names import symbol_of
from spca_core.world import World, load_world
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Look
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_sim.variation import draw_variation

ONE_BY_ONE = yaml.safe_load(Path(__file__).with_name("one_by_one.yaml").read_text())


@pytest.fixture(scope="module")
def crowd() -> World:
    return load_world("crowd")


def assert_all_found(look: Look, world: World, poses: dict[str, Pose], within: float) -> None:
    """Everything once, with its kind, colour, place and size (metres), and nothing else."""
    unused = list(look.detections)
    for model, pose in poses.items():
        kind, colour = symbol_of(model).split("_")[:2]
        same = [d for d in unused if (d.kind, d.colour) == (kind, colour)]
        assert same, f"{model} is missed: {look.notes}"
        found = min(same, key=lambda d: float(np.linalg.norm(np.subtract(d.pose.position, pose.position))))
        unused.remove(found)
        assert np.linalg.norm(np.subtract(found.pose.position, pose.position)) < within, model
        assert np.allclose(sorted(found.size), sorted(world.object(model).size), atol=0.003), model
    assert not unused, [(d.kind, d.colour, d.pose.position) for d in unused]


@pytest.mark.parametrize("seed", [None, 3])
def test_twelve_things_of_every_kind_are_found(crowd: World, open_studio, seed: int | None) -> None:
    poses = (nominal_layout(crowd) if seed is None else random_layout(crowd, seed)).poses
    variation = None if seed is None else draw_variation("hard", seed)
    look = ShapeDetector(Catalogue.from_world(crowd)).detect(open_studio(crowd, variation).shoot(poses))
    assert_all_found(look, crowd, poses, 0.0025 if seed is None else 0.006)


@pytest.mark.parametrize("known", [True, False])
def test_a_ball_is_where_it_is_also_far_from_below_the_camera(crowd: World, open_studio, known: bool) -> None:
    ball = crowd.object("ball_cyan")
    world = crowd.model_copy(update={"objects": (ball,)})
    seen_as = world if known else crowd.model_copy(update={"objects": ()})
    detector, studio = ShapeDetector(Catalogue.from_world(seen_as)), open_studio(world)
    for x, y in ((0.35, -0.25), (0.48, 0.0), (0.6, 0.28)):
        pose = Pose.from_xyz_yaw(x, y, world.table.top + ball.size[2] / 2)
        (found,) = detector.detect(studio.shoot({"ball_cyan": pose})).detections
        assert (found.kind, found.colour, found.known) == ("ball", "cyan", known)
        assert np.allclose(found.pose.position, pose.position, atol=0.0008)
        assert found.size == pytest.approx(ball.size, abs=0.001)


def test_what_has_no_known_colour_is_an_obstacle(crowd: World, open_studio) -> None:
    grey = crowd.object("cuboid_pink").model_copy(update={"colour": (0.5, 0.5, 0.49)})
    world = crowd.model_copy(update={"objects": (grey, crowd.object("bowl_blue"))})
    frame = open_studio(world).shoot(nominal_layout(world).poses)
    tracker = SceneTracker(ShapeDetector(Catalogue.from_world(world)))
    for _ in range(2):
        scene = tracker.update(frame)
        assert [(o.id, o.kind) for o in scene.objects] == [("bowl_blue", "bowl"), ("unknown", "unknown")]
    obstacle = scene.objects[1]
    assert np.allclose(obstacle.pose.position[:2], grey.position, atol=0.01)
    assert max(np.subtract(grey.size, sorted(obstacle.size, reverse=True))) < 0.01
    assert scene.holds("on", "unknown", "table")


def test_what_stands_on_and_in_things_is_seen(open_studio) -> None:
    world = load_world("hanoi")
    poses = dict(nominal_layout(world).poses)
    x, y, z = poses["mat_purple"].position
    for model in ("cuboid_red", "cuboid_green", "cuboid_blue"):
        z += 0.010 + (0.001 if model == "cuboid_red" else 0.010)
        poses[model] = Pose.from_xyz_yaw(x, y, z)
    tracker = SceneTracker(ShapeDetector(Catalogue.from_world(world)))
    studio = open_studio(world)
    scene = tracker.update(studio.shoot(poses))
    for above, below in (("red", "mat_purple"), ("green", "cuboid_red"), ("blue", "cuboid_green")):
        assert scene.holds("on", f"cuboid_{above}", below)


def test_what_a_thing_must_rest_on_is_found_though_it_touches_another_too(open_studio) -> None:
    """A bar whose middle is beside the one cube that is seen of two would fall off it."""
    world = load_world("shapes")
    red, bar = world.object("box_red"), world.object("cuboid_yellow")
    green = red.model_copy(update={"model": "box_green", "colour": (0.10, 0.55, 0.16)})
    bar = bar.model_copy(update={"size": (0.11, 0.034, 0.025)})
    world = world.model_copy(update={"objects": (red, green, bar)})
    edge, top = red.size[2], world.table.top
    poses = {
        "box_red": Pose.from_xyz_yaw(0.45, 0.03, top + edge / 2),
        "box_green": Pose.from_xyz_yaw(0.45, 0.03 - edge - 0.0005, top + edge / 2),
        "cuboid_yellow": Pose.from_xyz_yaw(0.45, 0.03, top + edge + 0.0125, np.pi / 2),
    }
    look = ShapeDetector(Catalogue.from_world(world)).detect(open_studio(world).shoot(poses))
    assert sorted(d.kind for d in look.detections) == ["cube", "cube", "cuboid"]
    hidden = next(d for d in look.detections if (d.kind, d.colour) == ("cube", "red"))
    assert np.allclose(hidden.pose.position, poses["box_red"].position, atol=0.004)


def test_a_thing_that_hides_its_support_is_no_taller_than_before(open_studio) -> None:
    """Seen from above, a block on an equal one might as well be one of twice the height."""
    world = load_world("shapes")
    poses = dict(nominal_layout(world).poses)
    tracker = SceneTracker(ShapeDetector(Catalogue.from_world(world)))
    studio = open_studio(world)
    tracker.update(studio.shoot(poses))
    x, y, _ = poses["box_red"].position
    poses["cylinder_green"] = Pose.from_xyz_yaw(x, y, 0.46)  # 45 mm wide, on a cube of 40 mm
    scene = tracker.update(studio.shoot(poses))
    assert scene.holds("on", "cylinder_green", "cube_red")
    cylinder = scene.get("cylinder_green")
    assert cylinder is not None
    assert cylinder.size[2] == pytest.approx(0.04, abs=0.002)


def test_strips_of_hidden_faces_in_a_pyramid_are_cubes_and_nothing_else(open_studio) -> None:
    """At the image's edge only strips of some faces are seen, which fit many rectangles."""
    world = load_world("blocks")
    detector, studio = ShapeDetector(Catalogue.from_world(world)), open_studio(world)
    # Along the row and up, in edges of a cube.
    places = ((-1, 0), (0, 0), (1, 0), (-0.5, 1), (0.5, 1), (0, 2))
    models = [thing.model for thing in world.objects if thing.kind == "cube"]
    for seed in range(3):
        chance = np.random.default_rng(seed)
        yaw, x, y = chance.uniform((-0.8, 0.3, -0.36), (0.8, 0.4, -0.25))
        poses = {
            model: Pose.from_xyz_yaw(
                x + 0.0405 * along * np.cos(yaw),
                y + 0.0405 * along * np.sin(yaw),
                world.table.top + 0.04 * (up + 0.5),
                yaw,
            )
            for model, (along, up) in zip(models, places, strict=False)
        }
        look = detector.detect(studio.shoot(poses))
        found = {d.colour: d for d in look.detections}
        assert len(found) == len(look.detections) >= 5  # the middle one of the lowest row is hidden
        for model, pose in poses.items():
            thing = found.get(world.object(model).colour)
            if thing is not None:
                assert thing.kind == "cube"
                assert np.linalg.norm(np.subtract(thing.pose.position, pose.position)) < 0.003, model


def test_a_tray_whose_rim_is_cut_by_what_lies_at_it_is_one_thing(open_studio) -> None:
    """Seen from the camera, two cubes at a long wall hide its ends, so that the rest of it stands alone."""
    world = load_world("packing")
    poses = dict(nominal_layout(world).poses)
    poses["tray_orange"] = Pose.from_xyz_yaw(0.434, 0.163, poses["tray_orange"].position[2], -0.654)
    for model, x, y in (("box_red", 0.445, 0.242), ("box_green", 0.3615, 0.131), ("box_blue", 0.468, 0.137)):
        poses[model] = Pose.from_xyz_yaw(x, y, world.table.top + 0.024, -0.65)
    poses["cylinder_purple"] = Pose.from_xyz_yaw(0.458, -0.117, poses["cylinder_purple"].position[2])
    look = ShapeDetector(Catalogue.from_world(world)).detect(open_studio(world).shoot(poses))
    assert_all_found(look, world, poses, 0.003)


@pytest.mark.parametrize("seed", range(4))
def test_two_things_of_a_tray_s_colour_in_it_are_no_second_tray(open_studio, seed: int) -> None:
    """Between them there is lower ground, as within a rim."""
    world = load_world("sorting")
    poses = dict(nominal_layout(world).poses)
    x, y, _ = poses["tray_blue"].position
    chance = np.random.default_rng(seed)
    for model, side in (("box_blue", -1), ("box_blue_2", 1)):
        along, across, yaw = chance.uniform((0.035, -0.025, 0.0), (0.058, 0.025, 1.57))
        poses[model] = Pose.from_xyz_yaw(x + across, y + side * along, world.table.top + 0.024, yaw)
    look = ShapeDetector(Catalogue.from_world(world)).detect(open_studio(world).shoot(poses))
    assert_all_found(look, world, poses, 0.004)


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
def test_things_are_seen_one_by_one(crowd: World, open_studio, name: str) -> None:
    things = {model: thing for model, thing in ONE_BY_ONE[name].items() if model != "within"}
    world, poses = placed(crowd, things)
    look = ShapeDetector(Catalogue.from_world(world)).detect(open_studio(world).shoot(poses))
    assert_all_found(look, world, poses, ONE_BY_ONE[name].get("within", 0.004))


@pytest.mark.parametrize("height", [0.006, 0.0119])
def test_what_is_low_is_seen_all_the_same(crowd: World, open_studio, height: float) -> None:
    things = {
        "cuboid_yellow": ("cuboid", (0.06, 0.04, height), (0.40, 0.15, 0.3)),
        "cuboid_pink": ("cuboid", (0.03, 0.03, height), (0.60, -0.20, 1.0)),
    }
    world, poses = placed(crowd, things)
    grey = (0.5, 0.5, 0.49)
    tile = world.objects[0].model_copy(update={"model": "cuboid_grey", "colour": grey})
    look = ShapeDetector(Catalogue.from_world(world)).detect(open_studio(world).shoot(poses))
    assert_all_found(look, world, poses, 0.0025)
    world = world.model_copy(update={"objects": (*world.objects, tile)})
    poses["cuboid_grey"] = Pose.from_xyz_yaw(0.5, 0.0, world.table.top + height / 2, 0.2)
    look = ShapeDetector(Catalogue.from_world(world)).detect(open_studio(world).shoot(poses))
    (obstacle,) = (d for d in look.detections if d.kind == "unknown")
    assert np.allclose(obstacle.pose.position[:2], (0.5, 0.0), atol=0.005)


def test_a_cube_under_a_larger_one_of_its_colour_is_inferred(crowd: World, open_studio) -> None:
    lower = ("cube", (0.055, 0.055, 0.055), (0.45, 0.0, 0.3))
    upper = ("cube", (0.07, 0.07, 0.07), (0.45, 0.0, 0.35), 0.055)
    world, poses = placed(crowd, {"box_red": lower, "box_red_2": upper})
    look = ShapeDetector(Catalogue.from_world(world)).detect(open_studio(world).shoot(poses))
    assert [(d.kind, d.size[0], d.seen) for d in look.detections] == [
        ("cube", 0.07, True),
        ("cube", 0.055, False),
    ]


def test_two_cubes_are_not_where_only_one_has_room(crowd: World, open_studio) -> None:
    """A disc that is larger than the cubes of its world is no two of them."""
    usual = (0.022, 0.022, 0.022)
    things = {
        "box_red": ("cube", usual, (0.52, 0.14, 0.0)),
        "box_yellow": ("cube", usual, (0.5, 0.25, 0.3)),
        "box_blue": ("cube", (0.043, 0.043, 0.043), (0.49, -0.126, 0.5)),
        "plate_green": ("plate", (0.034, 0.034, 0.008), (0.49, -0.126, 0.0), 0.043),
    }
    world, poses = placed(crowd, things)
    look = ShapeDetector(Catalogue.from_world(world)).detect(open_studio(world).shoot(poses))
    assert [d.kind for d in look.detections if d.colour == "green"] == ["plate"]


def test_no_obstacle_is_seen_in_a_cube_that_leans(crowd: World, open_studio) -> None:
    world, _ = placed(crowd, {"box_yellow": ("cube", (0.056, 0.056, 0.056), (0.5, 0.1, 0.0))})
    tilt = np.eye(4)
    tilt[:3, :3] = cv2.Rodrigues(np.array([0.25, 0.0, 0.0]))[0]
    tilt[:3, 3] = 0.5, 0.1, world.table.top + 0.037
    look = ShapeDetector(Catalogue.from_world(world)).detect(
        open_studio(world).shoot({"box_yellow": Pose.from_matrix(tilt)})
    )
    assert [d.kind for d in look.detections] == ["cube"]
