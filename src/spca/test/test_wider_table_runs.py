"""Whole runs with other kinds of things, from the first look to the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

import spca


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "preset", "seed"),
    [
        ("mats_01", "nominal", 0),  # a swap by way of the one free mat
        ("shapes_08", "shuffled", 1),  # a cube and a cylinder around a bowl
        ("packing_04", "hard", 1),  # two of three cubes into a tray
        ("crowd_02", "nominal", 0),  # twelve things; a ball into a bowl
        ("row_02", "shuffled", 20000),  # begun elsewhere, the row would end on a mat
        ("mats_04", "shuffled", 20003),  # a sliver of the red cube on a yellow mat seems orange
        ("row_01", "hard", 500),  # the fingers open just over a mat
        ("bowls_07", "shuffled", 620),  # a cube so near to a bowl that it has to be grasped above the rim
        ("pyramid_02", "hard", 5001),  # a row is pushed together, which looks like a knock of the camera
        ("row_01", "hard", 20005),  # what stands on a cube, turned, leaves no room beside it
        ("shapes_04", "disturbed", 20004),  # the plate is moved; the cuboid on its edge looks level
        ("pyramid_02", "hard", 5002),  # a covered cube is seen 9 mm beside its place, which breaks the row
        ("hanoi_01", "disturbed", 22001),  # a hand hides half a block, its kind is mistaken
        ("packing_01", "disturbed", 600),  # the tray is moved; the cube then leans on it
        ("hanoi_01", "disturbed", 400),  # it needs a mat that no word names
    ],
)
def test_a_level_of_the_wider_table_is_solved(level: str, preset: str, seed: int, tmp_path: Path) -> None:
    run = spca.run(level, preset=preset, seed=seed, out=tmp_path / "run", report=False)
    assert run.result.success, run.result.reason
