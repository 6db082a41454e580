"""CLIPort's tables are seen, its sentences are planned, and poses come out; without PyBullet and CLIPort."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_cliport.bench import CliportBench, _planner
from spca_cliport.episode import Instruction, PickPlaceEpisode, judged_world
from spca_cliport.playing import _boxed, _in_our_words, _packed, _rings, _sucked, _tracker, play
from spca_cliport.seeing import COLOURS, false_colour, filled, fused, without
from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.scene import Fact, Scene, SceneObject
from spca_sense.outline import footprint, gap, shared_area
from spca_tabletop.act.placements import Hold
from spca_testing.observations import thing

DARK = (46, 46, 46)
CAMERA = CameraIntrinsics(width=1400, height=800, fx=1200.0, fy=1200.0, cx=699.5, cy=399.5)
BOWL = (0.5, 0.2)
STAND = ((0.35, 0.05), (0.4, 0.05), (0.45, 0.05))


class Drawn:
    """An episode on a drawn table with a bowl, a stand and cubes; a step: sentence, cube and place."""

    def __init__(
        self, cubes: dict[str, tuple[float, float]], *steps: tuple[str, str, tuple[float, float]]
    ) -> None:
        self.cubes, self._steps, self.moves = {name: (*at, 0.04) for name, at in cubes.items()}, steps, 0

    def instruction(self) -> Instruction:
        left = [
            step for step in self._steps if np.hypot(*np.subtract(self.cubes[step[1]][:2], step[2])) > 0.01
        ]
        score = 1 - len(left) / len(self._steps)
        return Instruction(text=left[0][0] if left else "", score=score, left=9 - self.moves, done=not left)

    def pick_and_place(self, pick: Pose, place: Pose) -> None:
        self.moves += 1
        assert pick.position[2] == pytest.approx(0.04, abs=0.004)
        for name, at in self.cubes.items():
            if np.hypot(*np.subtract(at[:2], pick.position[:2])) < 0.005:
                self.cubes[name] = place.position

    def look(self) -> list[RgbdFrame]:
        """The left and the right half of the table, from 1 m above it, as CLIPort's frame has it."""
        pose = Pose.from_matrix(np.array([[0.0, -1, 0, 0.5], [-1, 0, 0, 0], [0, 0, -1, 1], [0, 0, 0, 1]]))
        rows, columns = np.indices((CAMERA.height, CAMERA.width))
        ray = np.stack([(columns - CAMERA.cx) / CAMERA.fx, (rows - CAMERA.cy) / CAMERA.fy], axis=2)
        colour, depth = np.full((*rows.shape, 3), DARK, np.uint8), np.ones(rows.shape, np.float32)
        for height, paint, inside in self._surfaces():
            x, y = 0.5 - ray[..., 1] * (1 - height), -ray[..., 0] * (1 - height)
            mask = inside(x, y)
            colour[mask], depth[mask] = paint, 1 - height
        left = np.where(columns < 700, depth, 0).astype(np.float32)
        right = np.where(columns >= 700, depth, 0).astype(np.float32)
        return [RgbdFrame(colour, half, CAMERA, pose, 0.0) for half in (left, right)]

    def _surfaces(self) -> Iterator[tuple[float, tuple[int, int, int], Any]]:
        def ring(least: float, most: float) -> Any:
            return lambda x, y: (
                (abs(np.hypot(x - BOWL[0], y - BOWL[1]) - (least + most) / 2)) < (most - least) / 2
            )

        def square(cx: float, cy: float, half: float) -> Any:
            return lambda x, y: np.maximum(abs(x - cx), abs(y - cy)) < half

        yield 0.004, COLOURS["brown"], ring(-0.05, 0.05)
        for shade, at in zip((1.5, 1.0, 0.5), STAND, strict=True):
            yield 0.005, tuple(int(min(255, c * shade)) for c in COLOURS["brown"]), square(*at, 0.025)
        # Clearly too narrow for two cubes side by side, of which the first would stand off its middle.
        yield 0.034, COLOURS["brown"], ring(0.048, 0.056)
        for name, (cx, cy, top) in sorted(self.cubes.items(), key=lambda cube: cube[1][2]):
            yield top, COLOURS[name], square(cx, cy, 0.02)


def played(*args: Any) -> tuple[tuple[str, str, str], Drawn]:
    episode = Drawn(*args)
    return play(cast(PickPlaceEpisode, episode), _planner()), episode


@pytest.mark.slow
def test_a_block_is_put_where_the_sentence_says() -> None:
    pair = {"red": (0.4, -0.2), "pink": (0.6, -0.1)}
    for colour, other in (("red", "pink"), ("pink", "red")):  # of one hue
        (end, _, reason), episode = played(pair, (f"put the {colour} blocks in a brown bowl", colour, BOWL))
        assert (end, reason, episode.moves) == ("acted", "all is done", 1)
        assert episode.cubes[other][:2] == pair[other], "the other one stays where it is"


@pytest.mark.slow
def test_blocks_are_put_on_shades_of_brown_and_across_what_stands_on_them() -> None:
    cubes = {"red": (0.4, -0.2), "cyan": (0.6, -0.1), "brown": (0.6, -0.3), "white": (0.35, 0.3)}
    lightest, middle, darkest = STAND
    (end, text, reason), episode = played(
        cubes,
        ("put the red block on the lightest brown block", "red", lightest),
        ("put the cyan block on the darkest brown block", "cyan", darkest),
        ("put the brown block on the middle brown block", "brown", middle),
        ("put the white block on the red and brown blocks", "white", np.mean([lightest, middle], axis=0)),
    )
    assert (end, reason, episode.moves) == ("acted", "all is done", 4), text
    assert episode.cubes["white"][2] == pytest.approx(0.085, abs=0.008)


def test_what_the_grammar_cannot_say_is_refused_with_its_words() -> None:
    text = "put the red block on the shiniest brown block"
    (end, told, reason), episode = played({"red": (0.4, 0)}, (text, "red", BOWL))
    assert end == "not_understood" and told == text and "do not know the word 'shiniest'" in reason
    assert episode.moves == 0


def test_a_colour_without_a_block_is_not_packed_and_suction_takes_what_is_wide() -> None:
    block = thing("cuboid_red", Pose.from_xyz_yaw(0, 0, 0), (0.1, 0.09, 0.05))
    scene = Scene(stamp=0.0, objects=(block,), relations=(), sentences=())
    for text in (
        "pack all the red and pink blocks into the brown box",
        "pack all the pink and red blocks into the brown box",
    ):
        assert _in_our_words(text, scene) == "pack all the red blocks into the brown tray"
    assert _sucked(block).size == (0.1, 0.07, 0.05)


def test_what_is_over_the_box_is_in_it_and_its_walls_are_not_seen_again() -> None:
    def block(name: str, x: float) -> SceneObject:
        at, size = Pose.from_xyz_yaw(x, 0.0, 0.125), (0.05, 0.05, 0.05)
        return thing(name, at, size, kind="cuboid", colour="red")

    box = block("tray_brown", 0.5).model_copy(update={"kind": "tray", "size": (0.2, 0.1, 0.05)})
    scene = Scene(stamp=0.0, objects=(block("in", 0.45), block("out", 0.65)), relations=(), sentences=())
    boxed = _boxed(scene, box)
    assert boxed.holds("on", "in", "tray_brown") and boxed.holds("on", "out", "table")
    camera = judged_world().camera
    rows, columns = np.indices((camera.height, camera.width))
    x = camera.position[0] - (rows - camera.cy) * 2.0 / camera.fy
    y = camera.position[1] - (columns - camera.cx) * 2.0 / camera.fx
    wall = (abs(x - 0.5) < 0.101) & (abs(y) < 0.051) & ((abs(x - 0.5) > 0.099) | (abs(y) > 0.049))
    own = (abs(x - 0.45) < 0.025) & (abs(y) < 0.025)
    depth = np.where(own | wall, 1.95, 2.0).astype(np.float32)
    colour = np.where((abs(x - 0.5) < 0.101) & (abs(y) < 0.051), 200, 46).astype(np.uint8)
    frame = RgbdFrame(np.stack([colour] * 3, axis=2), depth, camera.intrinsics, camera.pose, 0.0)
    bare = without(frame, box)
    assert (bare.depth[own] == depth[own]).all() and (bare.colour[own] == 200).all()
    assert bare.depth[~own].min() > 1.999 and bare.colour[~own].max() < 50


@pytest.mark.parametrize("thick", [0.004, 0.006])
def test_a_box_is_seen_by_its_walls_however_thin(thick: float) -> None:
    """Its rim is level, and a pixel or two wide."""
    camera, half = judged_world().camera, np.array([0.1, 0.07])
    rows, columns = np.indices((camera.height, camera.width))
    seen = {}
    for height in (0.0, 0.05):
        far = camera.position[2] - judged_world().table.top - height
        x = camera.position[0] - (rows - camera.cy) * far / camera.fy
        y = camera.position[1] - (columns - camera.cx) * far / camera.fx
        seen[height] = np.maximum(abs(x - 0.5) - half[0], abs(y) - half[1])
    wall = (seen[0.05] < 0) & (seen[0.05] > -thick)
    depth = np.where(wall, far, far + 0.05).astype(np.float32)
    brown = np.multiply(false_colour("brown"), 255).astype(np.uint8)
    colour = np.where((wall | (seen[0.0] < 0))[..., None], brown, np.full(3, 46, np.uint8))
    (box,) = _tracker().update(RgbdFrame(colour, depth, camera.intrinsics, camera.pose, 0.0)).objects
    assert (box.id, np.round(box.size[:2], 2).tolist()) == ("tray_brown", [0.2, 0.14])


def test_of_a_ring_below_another_the_few_millimetres_in_sight_are_not_lost() -> None:
    camera = judged_world().camera
    rows, columns = np.indices((camera.height, camera.width))
    away = camera.position[2] - judged_world().table.top
    colour, depth = np.full((*rows.shape, 3), 46, np.uint8), np.full(rows.shape, away, np.float32)
    for name, diameter, height in (("red", 0.07, 0.025), ("white", 0.058, 0.04)):
        far = away - height
        x, y = (rows - camera.cy) * far / camera.fy, (columns - camera.cx) * far / camera.fx
        disc = np.hypot(camera.position[0] - x - 0.5, camera.position[1] - y) < diameter / 2
        colour[disc], depth[disc] = np.multiply(false_colour(name), 255).astype(np.uint8), far
    scene = _tracker().update(RgbdFrame(colour, depth, camera.intrinsics, camera.pose, 0.0))
    assert {thing.colour for thing in scene.objects} - {"white"}


def _recorded(name: str) -> RgbdFrame:
    """A look at CLIPort's table: depth in fifths of a millimetre."""
    recorded, camera = np.load(Path(__file__).with_name(name)), judged_world().camera
    depth = (recorded["depth"] / 5000).astype(np.float32)
    return RgbdFrame(recorded["colour"], depth, camera.intrinsics, camera.pose, 0.0)


def test_each_ring_of_a_tower_is_seen_though_the_upper_one_hides_most_of_the_lower() -> None:
    """The second look at CLIPort's table 20023."""
    scene = _rings(_tracker().update(_recorded("rings.npz")))
    rings = {thing.id for thing in scene.of_kind("cylinder")}
    assert rings == {"cylinder_blue", "cylinder_green", "cylinder_purple"}


def test_a_ring_of_which_5_mm_are_in_sight_has_its_own_width() -> None:
    """The fourth look at CLIPort's table 20031, as it is fused."""
    scene = _rings(_tracker().update(filled(_recorded("tower.npz"))))
    widths = {thing.id: round(thing.size[0], 2) for thing in scene.of_kind("cylinder")}
    assert widths == {"cylinder_purple": 0.06, "cylinder_blue": 0.07, "cylinder_white": 0.08}
    assert scene.holds("on", "cylinder_purple", "cylinder_blue")


def _at(name: str, size: tuple[float, float, float], x: float, bottom: float) -> SceneObject:
    """A thing that stands so many metres above the table."""
    kind, colour = cast(Any, name.split("_"))
    pose = Pose.from_xyz_yaw(x, 0.0, judged_world().table.top + bottom + size[2] / 2)
    return SceneObject(id=name, kind=kind, colour=colour, pose=pose, size=size, confidence=1.0)


def test_a_ring_goes_onto_the_rings_that_are_there() -> None:
    objects = (
        _at("cuboid_black", (0.12, 0.12, 0.01), 0.5, 0.0),
        _at("plate_red", (0.08, 0.08, 0.01), 0.5, 0.01),
    )
    scene = _rings(Scene(stamp=0.0, objects=objects, relations=(), sentences=()))
    assert [(o.id, o.kind) for o in scene.objects] == [("mat_black", "mat"), ("cylinder_red", "cylinder")]
    assert scene.holds("on", "cylinder_red", "mat_black")
    for side, place in (("darker brown side", "red cylinder"), ("middle of the stand", "turquoise thing")):
        told = _in_our_words(f"move the cyan ring to the {side}", scene)
        assert told == f"move the cyan cylinder onto the {place}"


def test_beside_what_no_camera_sees_there_is_no_hole() -> None:
    camera = judged_world().camera
    depth = np.full((camera.height, camera.width), 2.0, np.float32)
    depth[10:60, 100:150] = 1.98
    depth[:8] = 0.0  # two pixels of the table are between that and what no camera sees
    frame = RgbdFrame(np.zeros((*depth.shape, 3), np.uint8), depth, camera.intrinsics, camera.pose, 0.0)
    beside = depth == np.float32(2.0)
    assert filled(frame).depth[::2, ::2][beside] == pytest.approx(2.0)


def test_views_are_one_from_above() -> None:
    world, (left, right) = judged_world(), Drawn({"blue": (0.6, -0.1)}, ("", "blue", BOWL)).look()
    both = fused([left, right], world)
    k, (x, y, z) = world.camera, np.subtract((0.6, -0.1, 0.14), world.camera.position)
    row, column = round(k.cy + k.fy * x / z), round(k.cx + k.fx * y / z)
    assert both.depth[row, column] == pytest.approx(-z, abs=0.002)
    assert both.colour[row, column] == pytest.approx(np.multiply(false_colour("blue"), 255), abs=1)
    table = both.depth[10:-10, 10:-10]
    assert (table > 0).all() and np.median(table) == pytest.approx(2.0, abs=0.002)
    outside = np.array([[0.74, 0.49, world.table.top + 0.28]])  # high things stand out over the picture's rim
    black, lens = np.zeros((1, 3), np.uint8), world.camera.intrinsics
    assert RgbdFrame.of_points(outside, black, lens, world.camera.pose, 0.0).depth.max() == 0


def test_a_folder_without_cliport_is_said_and_its_test_seeds_are_taken(tmp_path: Path) -> None:
    bench = CliportBench(repository=tmp_path, tasks=("put-block-in-bowl",), episodes=2)
    with pytest.raises(InputError, match="holds no CLIPort"):
        bench.prepare(tmp_path)
    assert [t.key for t in bench.trials()] == [
        f"put-block-in-bowl-{colours}-colors-{seed}"
        for seed in (10001, 10003)
        for colours in ("seen", "unseen")
    ]


@given(turn=st.floats(-np.pi, np.pi))
def test_what_is_put_into_a_box_leaves_room_for_the_rest(turn: float) -> None:
    at = Pose.from_xyz_yaw(0.5, 0.0, 0.415, turn)
    box = thing("tray", at, (0.2, 0.12, 0.03))
    sizes = {"long": (0.17, 0.04, 0.03), "wide": (0.09, 0.045, 0.03), "short": (0.045, 0.05, 0.03)}
    blocks = {name: thing(name, at, size, kind="cuboid") for name, size in sorted(sizes.items())}
    inside: list[SceneObject] = []
    for name, block in blocks.items():
        on = tuple(Fact(predicate="on", args=(o.id, "tray")) for o in inside)
        scene = Scene(stamp=0.0, objects=(box, *inside), relations=on, sentences=())
        rest = [other for other in blocks.values() if other.id > name]
        spot = next(_packed(name, box, scene, Hold(0.02, *block.size[:2]), rest))
        pose = Pose.from_xyz_yaw(*spot.position[:2], 0.42, spot.yaw)
        inside.append(block.model_copy(update={"pose": pose}))
    assert all(gap(footprint(a), footprint(b)) > 0.005 for a, b in combinations(inside, 2))
    for block in inside:
        assert shared_area(footprint(block), footprint(box)) > 0.999 * block.size[0] * block.size[1]
