"""CLIPort's tables are seen, its sentences are planned, and poses come out; without PyBullet and CLIPort."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from spca_cliport.bench import CliportBench, _planner
from spca_cliport.episode import Instruction, PickPlaceEpisode, judged_world
from spca_cliport.playing import play
from spca_cliport.seeing import COLOURS, false_colour, fused, in_false_colours
from spca_core.camera import CameraIntrinsics, RgbdFrame
from spca_core.errors import InputError
from spca_core.geometry import Pose

DARK = (46, 46, 46)
CAMERA = CameraIntrinsics(width=1400, height=800, fx=1200.0, fy=1200.0, cx=699.5, cy=399.5)
BOWL = (0.5, 0.2)


class Drawn:
    """An episode whose table is drawn: cubes at `cubes` and a bowl; a cube goes where it is placed."""

    def __init__(self, text: str, cubes: list[tuple[str, tuple[float, float]]]) -> None:
        self._text, self._cubes, self.moves = text, cubes, 0

    def instruction(self) -> Instruction:
        done = any(np.hypot(*np.subtract(at, BOWL)) < 0.01 for _, at in self._cubes)
        return Instruction(text=self._text, score=float(done), left=3 - self.moves, done=done)

    def pick_and_place(self, pick: Pose, place: Pose) -> None:
        self.moves += 1
        assert pick.position[2] == pytest.approx(0.04, abs=0.004)
        for number, (colour, at) in enumerate(self._cubes):
            if np.hypot(*np.subtract(at, pick.position[:2])) < 0.005:
                self._cubes[number] = (colour, place.position[:2])

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

        yield 0.004, COLOURS["brown"], ring(-0.05, 0.05)
        yield 0.034, COLOURS["brown"], ring(0.05, 0.058)
        for name, (cx, cy) in self._cubes:
            yield 0.04, COLOURS[name], lambda x, y, cx=cx, cy=cy: np.maximum(abs(x - cx), abs(y - cy)) < 0.02


def played(text: str, *cubes: tuple[str, tuple[float, float]]) -> tuple[tuple[str, str, str], Drawn]:
    episode = Drawn(text, list(cubes))
    return play(cast(PickPlaceEpisode, episode), _planner()), episode


def test_a_block_is_put_where_the_sentence_says() -> None:
    pair = (("red", (0.4, -0.2)), ("pink", (0.6, -0.1)))
    for colour in ("red", "pink"):  # of one hue
        (end, _, reason), episode = played(f"put the {colour} blocks in a brown bowl", *pair)
        assert (end, reason, episode.moves) == ("acted", "all is done", 1)
        moved = dict(episode._cubes)
        assert np.hypot(*np.subtract(moved[colour], BOWL)) < 0.005
        assert sum(moved[name] == at for name, at in pair) == 1, "the other one stays where it is"


def test_what_the_grammar_cannot_say_is_refused_with_its_words() -> None:
    (end, text, reason), episode = played("put the red block on the lightest brown block", ("red", (0.4, 0)))
    assert end == "refused" and "lightest" in text and "do not know the word 'lightest'" in reason
    assert episode.moves == 0


def test_every_colour_is_told_in_light_and_in_shade() -> None:
    for shade in (0.6, 1.0):
        for name, colour in COLOURS.items():
            seen = np.array([np.multiply(colour, shade)], np.uint8)
            assert in_false_colours(seen)[0] == pytest.approx(np.multiply(false_colour(name), 255), abs=1), (
                name
            )
    assert in_false_colours(np.array([DARK], np.uint8)).tolist() == [list(DARK)]


def test_views_are_one_from_above() -> None:
    world, (left, right) = judged_world(), Drawn("", [("blue", (0.45, -0.1))]).look()
    both = fused([left, right], world)
    k, (x, y, z) = world.camera, np.subtract((0.45, -0.1, 0.14), world.camera.position)
    row, column = round(k.cy + k.fy * x / z), round(k.cx + k.fx * y / z)
    assert both.depth[row, column] == pytest.approx(-z, abs=0.002)
    assert both.colour[row, column] == pytest.approx(np.multiply(false_colour("blue"), 255), abs=1)
    table = both.depth[10:-10, 10:-10]
    assert (table > 0).all() and np.median(table) == pytest.approx(2.0, abs=0.002)


def test_a_folder_without_cliport_is_said_and_its_test_seeds_are_taken(tmp_path: Path) -> None:
    bench = CliportBench(repository=tmp_path, tasks=("put-block-in-bowl",), episodes=2)
    with pytest.raises(InputError, match="holds no CLIPort"):
        bench.prepare(tmp_path)
    assert [t.key for t in bench.trials()] == [
        f"put-block-in-bowl-{colours}-colors-{seed}"
        for seed in (10001, 10003)
        for colours in ("seen", "unseen")
    ]
