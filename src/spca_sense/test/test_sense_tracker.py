"""Ids, memory, what is held and what is missing, from look to look of the simulated camera."""

import math
from dataclasses import replace

import pytest
from scipy.spatial.transform import Rotation

from spca_core.camera import RgbdFrame
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout
from spca_core.scene import Scene
from spca_core.world import World, load_world
from spca_sense.catalogue import Catalogue
from spca_sense.detection import Look
from spca_sense.search import ShapeDetector
from spca_sense.tracker import SceneTracker
from spca_testing.contracts.arm_contract import OVER_TABLE

FURTHER = pytest.mark.full


@pytest.fixture
def nominal(world: World) -> dict[str, Pose]:
    return dict(nominal_layout(world).poses)


@pytest.fixture
def lifted(nominal: dict[str, Pose]) -> dict[str, Pose]:
    """All but the red cube, which the arm has carried out of view."""
    return {k: p for k, p in nominal.items() if k != "box_red"}


@pytest.fixture
def of_twins(twin_world: World) -> SceneTracker:
    """One for the world with several red cubes."""
    return SceneTracker(ShapeDetector(Catalogue.from_world(twin_world)))


@pytest.fixture(scope="module")
def blocks(open_studio) -> tuple:
    """A studio of the world of many cubes, and what makes a tracker for it."""
    world = load_world("blocks")
    return open_studio(world), lambda: SceneTracker(ShapeDetector(Catalogue.from_world(world)))


AWAY = Pose(position=(0.1, -0.5, 0.7), quaternion=(1.0, 0.0, 0.0, 0.0))
"""Where the tool is out of view, straight down."""


def ids(scene: Scene) -> list[str]:
    return [o.id for o in scene.objects]


def test_nominal_scene(studio, tracker, nominal) -> None:
    scene = tracker.update(studio.shoot(nominal))
    assert ids(scene) == ["cube_blue", "cube_green", "cube_red", "plate_blue", "plate_green", "plate_red"]
    assert all(o.visible and o.last_seen == scene.stamp for o in scene.objects)
    for atom in (
        ("leftmost", "cube_green"),
        ("middle", "cube_blue"),
        ("rightmost", "cube_red"),
        ("nearest", "cube_blue"),
        ("farthest", "cube_red"),
        ("middle", "plate_blue"),
        ("on", "cube_red", "table"),
        ("clear", "plate_red"),
    ):
        assert scene.holds(*atom)
    assert tracker.scene == scene


def test_behind_the_arm_a_thing_is_remembered(studio, tracker, nominal) -> None:
    before = tracker.update(studio.shoot(nominal)).get("cube_green")
    scene = tracker.update(studio.shoot(nominal, arm=tuple(OVER_TABLE)))
    hidden = scene.get("cube_green")
    assert hidden.pose == before.pose
    assert not hidden.visible
    assert hidden.confidence < before.confidence
    assert "out of sight" in scene.sentences[-1]
    again = tracker.update(studio.shoot(nominal)).get("cube_green")
    assert again.visible
    assert again.confidence > hidden.confidence


def test_a_thing_that_moved_keeps_its_id(studio, tracker, shelf, nominal) -> None:
    tracker.update(studio.shoot(nominal))
    scene = tracker.update(studio.shoot(nominal | {"box_red": shelf.cube(0.36, 0.25, 0.5)}))
    assert scene.get("cube_red").pose.position == pytest.approx((0.36, 0.25, 0.42), abs=0.001)
    assert len(scene.objects) == 6


def test_an_emptied_place_is_forgotten_and_noted(studio, tracker, nominal) -> None:
    tracker.update(studio.shoot(nominal))
    gone = nominal.copy()
    red = gone.pop("box_red")
    scene = tracker.update(studio.shoot(gone))
    assert scene.get("cube_red") is None
    assert any("cube_red is missing" in note for note in scene.notes)
    assert not any(
        "cube_red" in str(fact) or "red cube" in " ".join(scene.sentences) for fact in scene.relations
    )
    assert tracker.update(studio.shoot(gone | {"box_red": red})).get("cube_red").visible


def test_a_place_taken_by_another_cube_is_empty_of_the_first(studio, tracker, shelf, nominal) -> None:
    tracker.update(studio.shoot(nominal))
    poses = nominal | {"box_green": nominal["box_red"]}
    del poses["box_red"]
    scene = tracker.update(studio.shoot(poses))
    assert scene.get("cube_red") is None
    assert scene.get("cube_green").pose.position == pytest.approx(nominal["box_red"].position, abs=0.001)


def test_what_stands_on_a_remembered_cube_is_on_it(studio, tracker, shelf) -> None:
    """Straight above, nothing of the lower ones is in sight: their names come from memory."""
    place = (0.5, 0.0)
    poses = {
        "box_blue": shelf.cube(*place),
        "box_red": shelf.cube(0.4, 0.2),
        "box_green": shelf.cube(0.4, -0.2),
    }
    tracker.update(studio.shoot(poses))
    poses["box_red"] = shelf.cube(*place, level=1)
    scene = tracker.update(studio.shoot(poses))
    assert scene.holds("on", "cube_red", "cube_blue")
    assert not scene.get("cube_blue").visible
    sure = [tracker.update(studio.shoot(poses)).get("cube_blue").confidence for _ in range(3)]
    assert scene.get("cube_blue").confidence == sure[-1] > 0.8, "it does not fade away"
    poses["box_green"] = shelf.cube(*place, level=2)
    scene = tracker.update(studio.shoot(poses))
    assert scene.holds("on", "cube_green", "cube_red")
    assert scene.holds("on", "cube_red", "cube_blue")
    assert scene.holds("on", "cube_blue", "table")
    assert [f.args for f in scene.relations if f.predicate == "clear"] == [("cube_green",)]
    assert len(scene.objects) == 3


def test_without_memory_a_hidden_support_is_unknown(studio, tracker, shelf) -> None:
    poses = {"box_blue": shelf.cube(0.5, 0.0), "box_red": shelf.cube(0.5, 0.0, level=1)}
    scene = tracker.update(studio.shoot(poses))
    unknown = scene.get("unknown")
    assert (unknown.kind, unknown.colour, unknown.visible) == ("unknown", "unknown", False)
    assert scene.holds("on", "cube_red", "unknown")
    assert scene.holds("on", "unknown", "table")
    assert any("unseen cube" in note for note in scene.notes)
    assert "unknown thing" in scene.sentences[0]
    poses["box_red"] = shelf.cube(0.4, 0.1)  # the stack is undone
    scene = tracker.update(studio.shoot(poses))
    assert ids(scene) == ["cube_blue", "cube_red"]
    assert scene.holds("on", "cube_blue", "table")


def test_a_hidden_support_is_the_only_cube_that_is_missing(studio, tracker, shelf, nominal) -> None:
    """Carried away and built upon between two looks."""
    tracker.update(studio.shoot(nominal))
    poses = nominal | {"box_blue": shelf.cube(0.5, 0.0), "box_red": shelf.cube(0.5, 0.0, level=1)}
    scene = tracker.update(studio.shoot(poses))
    assert scene.holds("on", "cube_red", "cube_blue")
    assert scene.get("cube_blue").confidence < 0.5
    assert any("no other is missing" in note for note in scene.notes)


def test_held_out_of_view(studio, tracker, nominal, lifted) -> None:
    """Let go and never seen again, it is missing."""
    tracker.update(studio.shoot(nominal))
    scene = tracker.update(studio.shoot(lifted), held="cube_red", tool=AWAY)
    red = scene.get("cube_red")
    assert scene.holds("held", "cube_red")
    assert red.pose.position == AWAY.position
    assert not red.visible
    assert not any(f.predicate == "on" and f.args[0] == "cube_red" for f in scene.relations)
    assert "holds the red cube" in scene.sentences[-1]
    assert scene.holds("rightmost", "cube_blue"), "what is held takes no place in the row"
    scene = tracker.update(studio.shoot(lifted))
    assert scene.get("cube_red") is None
    assert any("cube_red is missing" in note for note in scene.notes)


def test_held_and_seen(studio, tracker, nominal) -> None:
    tracker.update(studio.shoot(nominal))
    in_hand = nominal | {"box_red": Pose.from_xyz_yaw(0.45, 0.2, 0.6, 0.2)}
    scene = tracker.update(
        studio.shoot(in_hand), held="cube_red", tool=AWAY.model_copy(update={"position": (0.45, 0.2, 0.6)})
    )
    assert scene.holds("held", "cube_red")
    assert scene.get("cube_red").visible
    assert scene.get("unknown") is None


def test_what_comes_into_sight_below_is_not_what_is_held_if_it_is_smaller(
    open_studio, twin_world, shelf
) -> None:
    small = twin_world.object("box_red").model_copy(update={"model": "box_red_9", "size": (0.03, 0.03, 0.03)})
    world = twin_world.model_copy(update={"objects": (*twin_world.objects, small)})
    studio, tracker = open_studio(world), SceneTracker(ShapeDetector(Catalogue.from_world(world)))
    tracker.update(studio.shoot({"box_red": shelf.cube(0.45, 0.1)}))
    below = {"box_red_9": Pose.from_xyz_yaw(0.45, 0.1, world.table.top + 0.015, 0.0)}
    scene = tracker.update(studio.shoot(below), held="cube_red", tool=AWAY)
    assert scene.holds("held", "cube_red")
    assert scene.get("cube_red").size[0] == pytest.approx(0.04, abs=0.001)
    assert scene.get("cube_red_2").size[0] == pytest.approx(0.03, abs=0.001)


def test_sight_overrules_the_arm(studio, tracker, nominal) -> None:
    tracker.update(studio.shoot(nominal))
    scene = tracker.update(studio.shoot(nominal), held="cube_red", tool=AWAY)
    assert not scene.holds("held", "cube_red")
    assert scene.holds("on", "cube_red", "table")
    assert any("seen elsewhere" in note for note in scene.notes)


def test_holding_from_the_first_look_on(studio, tracker, lifted) -> None:
    frame = studio.shoot(lifted)
    scene = tracker.update(frame, held="cube_red", tool=AWAY)
    assert (scene.get("cube_red").kind, scene.get("cube_red").colour) == ("cube", "red")
    tracker.forget()
    scene = tracker.update(frame, held="cube_red")
    assert not scene.holds("held", "cube_red")
    assert any("never been seen" in note for note in scene.notes)


def test_things_of_one_colour_keep_their_ids(of_twins, twin_studio, shelf) -> None:
    poses = {
        "box_red": shelf.cube(0.45, 0.2),
        "box_red_2": shelf.cube(0.45, 0.0),
        "box_red_3": shelf.cube(0.45, -0.2),
    }
    first = of_twins.update(twin_studio.shoot(poses))
    assert [first.get(i).pose.position[1] for i in ("cube_red", "cube_red_2", "cube_red_3")] == pytest.approx(
        [0.2, 0.0, -0.2], abs=0.002
    )
    moved = poses | {"box_red": shelf.cube(0.55, 0.18)}
    scene = of_twins.update(twin_studio.shoot(moved))
    assert scene.get("cube_red").pose.position[0] == pytest.approx(0.55, abs=0.002)
    for name in ("cube_red_2", "cube_red_3"):
        assert math.dist(scene.get(name).pose.position, first.get(name).pose.position) < 0.001
    del moved["box_red_2"]
    assert ids(of_twins.update(twin_studio.shoot(moved))) == ["cube_red", "cube_red_3"]
    assert "another red cube" in first.sentences[0]


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


def test_a_cube_under_another_does_not_take_the_colour_of_its_neighbour(studio, tracker, shelf) -> None:
    """Two cubes stand side by side on a plate, and one of them carries a third."""
    plate = {"plate_red": shelf.plate(0.5424, 0.1264)}
    blue = {"box_blue": shelf.cube(0.562, 0.134, 0.42, on_plate=True)}
    red = shelf.cube(0.525, 0.1156, 0.35, on_plate=True)
    before = tracker.update(studio.shoot({**plate, **blue, "box_red": red}))
    on_red = red.model_copy(update={"position": (0.525, 0.1156, red.position[2] + 0.04)})
    scene = tracker.update(studio.shoot({**plate, **blue, "box_red": red, "box_green": on_red}))
    assert {"cube_red", "cube_blue"} <= set(ids(before))
    assert "cube_blue_2" not in ids(scene) and scene.holds("on", "cube_green", "cube_red")


def test_a_plate_below_another_one_is_remembered(studio, tracker, nominal, shelf) -> None:
    """What covers it is hardly higher than the noise of the camera."""
    tracker.update(studio.shoot(nominal))
    (x, y, z), thick = nominal["plate_red"].position, tracker.scene.get("plate_red").size[2]
    scene = tracker.update(studio.shoot(nominal | {"plate_blue": Pose.from_xyz_yaw(x, y, z + thick)}))
    assert scene.holds("on", "plate_blue", "plate_red")
    assert not scene.get("plate_red").visible


def test_between_two_that_cover_it_a_cube_has_not_slid(blocks, shelf) -> None:
    """As in a pyramid: where a cube's border is hidden, what covers it has a border that looks like its."""
    studio, tracker = blocks[0], blocks[1]()
    row = {
        "box_red": shelf.cube(0.4211, 0.058, -0.07),
        "box_green": shelf.cube(0.4617, 0.055, -0.07),
        "box_blue": shelf.cube(0.5031, 0.0516, -0.07),
    }
    tracker.update(studio.shoot(row))
    upper = {
        "box_yellow": shelf.cube(0.440, 0.055, -0.05, level=1),
        "box_orange": shelf.cube(0.502, 0.052, -0.1, level=1),
    }
    scene = tracker.update(studio.shoot(row | upper))
    assert scene.get("cube_green").pose.position[0] == pytest.approx(0.4617, abs=0.006)
    assert scene.get("cube_blue") is not None and not scene.get("cube_blue").visible


@pytest.mark.parametrize("at", [(0.39, -0.13), pytest.param((0.5, 0.1), marks=FURTHER), (0.6, -0.2)])
@pytest.mark.parametrize("pushed", [pytest.param(0.003, marks=FURTHER), 0.006])
def test_a_covered_cube_that_is_pushed_moves_with_what_it_carries(
    blocks, shelf, at: tuple[float, float], pushed: float
) -> None:
    """A cube is slid against one that carries another: both shift, and none is inside of the other."""
    studio, tracker = blocks[0], blocks[1]()
    x, y = at
    red, burden = shelf.cube(x, y, 0.2), shelf.cube(x - 0.003, y + 0.001, 0.1, level=1)
    alone = shelf.cube(x + 0.1, y + 0.1)
    tracker.update(studio.shoot({"box_red": red, "box_green": alone}))
    tracker.update(studio.shoot({"box_red": red, "box_yellow": burden, "box_green": alone}))
    away = (-pushed * math.cos(0.2), -pushed * math.sin(0.2))
    red, burden = moved(red, *away), moved(burden, *away)
    beside = moved(red, 0.04 * math.cos(0.2), 0.04 * math.sin(0.2))
    scene = tracker.update(studio.shoot({"box_red": red, "box_yellow": burden, "box_green": beside}))
    assert math.dist(scene.get("cube_red").pose.position, red.position) < 0.0025


def moved(pose: Pose, dx: float, dy: float) -> Pose:
    x, y, z = pose.position
    return pose.model_copy(update={"position": (x + dx, y + dy, z)})


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


def test_a_cube_that_leans_on_an_edge_is_no_ball(blocks, shelf) -> None:
    studio, tracker = blocks[0], blocks[1]()
    before = ids(tracker.update(studio.shoot({"box_green": shelf.cube(0.62, -0.22)})))
    turned = Rotation.from_euler("xy", [0.1, 0.85])
    leaning = Pose(position=(0.471, -0.29, 0.4275), quaternion=tuple(turned.as_quat()))
    assert ids(tracker.update(studio.shoot({"box_green": leaning}))) == before


def test_a_kind_that_was_mistaken_is_corrected_by_a_better_look(open_studio) -> None:
    world = load_world("hanoi")
    detector = Mistaken(world, "cuboid", "red")
    frame = open_studio(world).shoot(dict(nominal_layout(world).poses))
    tracker = SceneTracker(detector)
    detector.seems = {"kind": "cube"}
    assert tracker.update(frame).get("cube_red") is not None
    detector.seems = {}
    scene = tracker.update(frame)
    assert scene.get("cuboid_red") is not None and scene.get("cube_red") is None


def test_of_two_like_things_the_hidden_one_keeps_its_name(of_twins, twin_studio, shelf) -> None:
    """Straight above, one is covered; the other comes to lie near it, far from its own place."""
    poses = {"box_red": shelf.cube(0.5, 0.0), "box_red_2": shelf.cube(0.5, -0.25)}
    of_twins.update(twin_studio.shoot(poses | {"box_green": shelf.cube(0.6, 0.2)}))
    poses |= {"box_green": shelf.cube(0.5, 0.0, level=1), "box_red_2": shelf.cube(0.5, -0.08)}
    scene = of_twins.update(twin_studio.shoot(poses))
    assert scene.holds("on", "cube_green", "cube_red")
    assert scene.get("cube_red_2").pose.position == pytest.approx((0.5, -0.08, 0.42), abs=0.002)


def test_what_was_moved_past_its_like_leaves_that_its_name(of_twins, twin_studio, shelf) -> None:
    """All distances are as long if both have moved on, but things stay where they are unless moved."""
    poses = {"box_red": shelf.cube(0.38, 0.11), "box_red_2": shelf.cube(0.46, 0.1)}
    of_twins.update(twin_studio.shoot(poses))
    poses = {"box_red": shelf.cube(0.54, 0.09), "box_red_2": shelf.cube(0.461, 0.1)}
    scene = of_twins.update(twin_studio.shoot(poses))
    assert scene.get("cube_red").pose.position[0] == pytest.approx(0.54, abs=0.002)
    assert scene.get("cube_red_2").pose.position[0] == pytest.approx(0.461, abs=0.002)


def test_what_carries_another_unseen_is_what_was_known_there(open_studio, twin_world, shelf) -> None:
    """Straight above a bar that carries its like, a cube would explain that as well."""
    bar = twin_world.object("box_green").model_copy(update={"kind": "cuboid", "size": (0.08, 0.04, 0.04)})
    bars = tuple(bar.model_copy(update={"model": f"cuboid_green_{n}"}) for n in (1, 2))
    world = twin_world.model_copy(update={"objects": (*twin_world.objects, *bars)})
    studio, tracker = open_studio(world), SceneTracker(ShapeDetector(Catalogue.from_world(world)))
    poses = {"cuboid_green_1": shelf.cube(0.5, 0.0), "cuboid_green_2": shelf.cube(0.5, 0.2)}
    before = ids(tracker.update(studio.shoot(poses)))
    poses["cuboid_green_2"] = shelf.cube(0.5, 0.0, level=1)
    assert ids(tracker.update(studio.shoot(poses))) == before
