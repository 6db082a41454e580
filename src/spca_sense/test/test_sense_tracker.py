"""Ids, memory, what is held and what is missing, from look to look of the simulated camera."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout
from spca_core.scene import Scene
from spca_core.validation import parse_yaml
from spca_core.world import World, load_world
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Look
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_testing.contracts.arm_contract import OVER_TABLE


@pytest.fixture
def nominal(world: World) -> dict[str, Pose]:
    return dict(nominal_layout(world).poses)


LOOKS = parse_yaml((Path(__file__).parent / "looks.yaml").read_text())
DOWN = (1.0, 0.0, 0.0, 0.0)
"""Orientation of a tool that points straight down."""


def ids(scene: Scene) -> list[str]:
    return [o.id for o in scene.objects]


@pytest.fixture(scope="module")
def many_studio(twin_world: World, open_studio) -> Any:
    """One of the world with several red cubes, a small one among them, and some more things."""
    small = twin_world.object("box_red").model_copy(update={"model": "box_red_9", "size": (0.03, 0.03, 0.03)})
    others = (o for o in load_world("blocks").objects if o.model in ("box_yellow", "box_orange"))
    others = (*others, load_world("shapes").object("cylinder_green"), small)
    return open_studio(twin_world.model_copy(update={"objects": (*twin_world.objects, *others)}))


@pytest.mark.parametrize("story", LOOKS)
def test_from_look_to_look(story: str, many_studio, nominal) -> None:
    world, poses = many_studio.world, dict[str, Pose]()
    tracker = SceneTracker(ShapeDetector(Catalogue.from_world(world)))
    for look in LOOKS[story]:
        poses = dict(nominal) if "nominal" in look else poses
        for model, at in look.get("see", {}).items():
            poses.pop(model, None)
            if at is not None:
                x, y, yaw, up = *at, *(0.0, world.object(model).size[2] / 2)[len(at) - 2 :]
                poses[model] = Pose.from_xyz_yaw(x, y, world.table.top + up, yaw)
        tool = Pose(position=look["tool"], quaternion=DOWN) if "tool" in look else None
        scene = tracker.update(many_studio.shoot(poses), held=look.get("held"), tool=tool)
        assert tracker.scene == scene
        assert ids(scene) == look.get("ids", ids(scene))
        assert {o.id for o in scene.objects if not o.visible} == {*look.get("unseen", ())}
        told = [*(" ".join((f.predicate, *f.args)) for f in scene.relations), " ".join(scene.sentences)]
        assert {*look.get("hold", ())} <= {*told}
        assert all(words in told[-1] for words in look.get("told", ()))
        assert not [words for words in look.get("never", ()) if words in "; ".join(told)]
        assert look.get("noted", "") in "; ".join(scene.notes)
        for name, place in look.get("at", {}).items():
            assert math.dist(scene.get(name).pose.position[: len(place)], place) < 0.0025, name
        for name, (least, most) in look.get("sure", {}).items():
            assert least < scene.get(name).confidence <= most


def test_behind_the_arm_a_thing_is_remembered(studio, tracker, nominal) -> None:
    before = tracker.update(studio.shoot(nominal)).get("cube_green")
    scene = tracker.update(studio.shoot(nominal, arm=tuple(OVER_TABLE)))
    hidden = scene.get("cube_green")
    assert hidden.pose == before.pose and not hidden.visible
    assert hidden.confidence < before.confidence
    assert "out of sight" in scene.sentences[-1]
    again = tracker.update(studio.shoot(nominal)).get("cube_green")
    assert again.visible and again.confidence > hidden.confidence


def test_adopting_a_scene_brings_its_memory_back_and_forgetting_takes_it(studio, detector, nominal) -> None:
    tracker = SceneTracker(detector)
    checkpoint = tracker.update(studio.shoot(nominal))
    tracker.update(studio.shoot({}))
    tracker.adopt(checkpoint)
    assert tracker.scene == checkpoint
    scene = tracker.update(studio.shoot(nominal, arm=tuple(OVER_TABLE)))
    assert scene.get("cube_green") is not None
    tracker.forget()
    scene = tracker.update(studio.shoot({}))
    assert (scene.objects, scene.notes) == ((), ()), "after forgetting nothing is missing"


class Mistaken(ShapeDetector):
    """Sees one thing, of the kind and colour given, as something else and doubtfully."""

    def __init__(self, world: World, kind: str, colour: str) -> None:
        super().__init__(Catalogue.from_world(world))
        self.who, self.seems = (kind, colour), dict[str, str]()

    def detect(self, frame: RgbdFrame) -> Look:
        look = super().detect(frame)
        seen = (
            replace(d, confidence=0.5, **self.seems) if (d.kind, d.colour) == self.who and self.seems else d
            for d in look.detections
        )
        return replace(look, detections=tuple(seen))


@pytest.mark.parametrize(
    ("name", "kind", "colour", "seems"),
    [("hanoi", "cuboid", "red", {"kind": "cube"}), ("mats", "cube", "red", {"colour": "orange"})],
)
def test_a_thing_that_is_seen_worse_than_before_stays_what_it_was(
    open_studio, name: str, kind: str, colour: str, seems: dict[str, str]
) -> None:
    """A hand hides a part of it, or only a sliver beside what covers it is in sight."""
    world = load_world(name)
    detector = Mistaken(world, kind, colour)
    frame = open_studio(world).shoot(dict(nominal_layout(world).poses))
    tracker = SceneTracker(detector)
    before = ids(tracker.update(frame))
    detector.seems = seems
    assert ids(tracker.update(frame)) == before
    tracker.forget()
    assert ids(tracker.update(frame)) != before
    detector.seems = {}
    assert ids(tracker.update(frame)) == before, "a better look corrects it"
