"""A sign's text is in the picture, the right way up, and is no more than a picture."""

from __future__ import annotations

import numpy as np
import pytest

from spca_core.errors import InputError
from spca_core.layout import Layout, nominal_layout
from spca_core.world import World, load_world
from spca_sim.mujoco_world import MujocoWorld

WORLD = load_world("tabletop_sign")


def printed(text: str) -> World:
    objects = tuple(o.model_copy(update={"text": text}) if o.kind == "sign" else o for o in WORLD.objects)
    return WORLD.model_copy(update={"objects": objects})


def picture(world: World, layout: Layout | None = None) -> np.ndarray:
    """The sign as the camera sees it: brightness of the pixels around it."""
    simulator = MujocoWorld(world, False)
    try:
        simulator.reset(layout or nominal_layout(world), 0)
        grey = simulator.capture().colour.mean(axis=2)
    finally:
        simulator.close()
    sign, camera = world.object("sign"), world.camera
    scale = camera.fx / (camera.position[2] - world.table.top)
    row = camera.cy - (sign.position[0] - camera.position[0]) * scale
    column = camera.cx - (sign.position[1] - camera.position[1]) * scale
    half = round(sign.size[0] / 2 * scale) - 4, round(sign.size[1] / 2 * scale) - 4
    return grey[
        round(row) - half[0] : round(row) + half[0], round(column) - half[1] : round(column) + half[1]
    ]


def test_the_text_is_in_the_picture_and_nothing_without_one() -> None:
    assert (picture(printed("")) < 90).mean() == 0
    assert (picture(WORLD) < 90).mean() > 0.02


def letter(picture: np.ndarray) -> np.ndarray:
    """The ink within its bounding box."""
    ink = picture < 90
    rows, columns = np.nonzero(ink)
    return ink[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]


def is_an_l(ink: np.ndarray) -> bool:
    """Ink on the left and at the bottom, none at the upper right."""
    height, width = ink.shape
    bars = ink[:, : width // 4].mean() > 0.5 and ink[-(height // 5) :].mean() > 0.5
    return bool(bars and ink[: height // 2, width // 2 :].mean() < 0.1)


def test_the_text_reads_the_right_way_up_and_not_mirrored() -> None:
    assert is_an_l(letter(picture(printed("L"))))


def test_only_signs_bear_text() -> None:
    objects = tuple(o.model_copy(update={"text": "hello"}) for o in WORLD.objects)
    problems = WORLD.model_copy(update={"objects": objects}).problems()
    assert any("no sign" in problem for problem in problems)
    with pytest.raises(InputError, match="unknown world"):
        load_world("tabletop_poster")
