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
from spca_cliport.episode import Instruction, PickPlaceEpisode
from spca_cliport.playing import _packed, play
from spca_cliport.seeing import COLOURS
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
def test_blocks_are_put_where_the_sentences_say_and_what_cannot_be_said_is_refused_with_its_words() -> None:
    """In a bowl, though red and pink are of one hue; on shades of brown; across what stands on them."""
    cubes = {"red": (0.4, -0.2), "pink": (0.6, -0.1), "brown": (0.6, -0.3), "white": (0.35, 0.3)}
    lightest, middle, _ = STAND
    strange = "put the red block on the shiniest brown block"
    (end, text, reason), episode = played(
        cubes,
        ("put the pink blocks in a brown bowl", "pink", BOWL),
        ("put the red block on the lightest brown block", "red", lightest),
        ("put the brown block on the middle brown block", "brown", middle),
        ("put the white block on the red and brown blocks", "white", np.mean([lightest, middle], axis=0)),
        (strange, "red", BOWL),
    )
    assert (end, text, episode.moves) == ("not_understood", strange, 4), reason
    assert "do not know the word 'shiniest'" in reason
    assert episode.cubes["white"][2] == pytest.approx(0.085, abs=0.008)


def test_a_folder_without_cliport_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no CLIPort"):
        CliportBench(repository=tmp_path).prepare(tmp_path)


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
