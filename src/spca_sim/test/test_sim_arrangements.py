"""Arrangements made to fool a referee, and some that only look wrong, judged from contacts in the physics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from spca_core.contacts import ContactSample, pair
from spca_core.geometry import Pose
from spca_core.layout import Layout, nominal_layout
from spca_core.names import COBOT
from spca_core.world import load_world
from spca_referee.level import Level, load_level
from spca_referee.referee import Referee
from spca_sim.mujoco_world import MujocoWorld

R, G, B, Y = "box_red", "box_green", "box_blue", "box_yellow"
S = 0.04
PLATE, MAT, FLOOR = 0.008, 0.002, 0.004
X = 0.5
Place = tuple[float, float, float]
"""x, y, and the height of the lower face above the table, metres."""


def on(below: Place, height: float = S, x: float = 0.0, y: float = 0.0) -> Place:
    """The place on a thing of that height, off its middle by (x, y)."""
    return below[0] + x, below[1] + y, below[2] + height


BASE: Place = (X, 0.0, 0.0)
BESIDE: Place = (X, S, 0.0)
BOWL: Place = (0.45, -0.2, 0.0)
TRAY: Place = (0.45, -0.1, 0.0)
BLUE_PLATE: Place = (0.45, 0.2, 0.0)

FALSE: dict[str, tuple[str, Mapping[str, Place]]] = {
    "red on a plate, flush with blue": ("stack_01", {"plate_red": (X, 0.075, 0), R: (X, S, PLATE), B: BASE}),
    "red beside blue": ("stack_01", {R: BESIDE, B: BASE}),
    "blue on red": ("stack_01", {B: on(BASE), R: BASE}),
    "red on blue, which stands on a plate": (
        "stack_01",
        {"plate_red": BASE, B: on(BASE, PLATE), R: on(BASE, PLATE + S)},
    ),
    "red on green, beside blue": ("stack_01", {G: BESIDE, R: on(BESIDE), B: BASE}),
    "a row for a stack": ("stack_04", {R: (X, 2 * S, 0), B: BESIDE, G: BASE}),
    "a stack in another order": ("stack_04", {B: on(on(BASE)), R: on(BASE), G: BASE}),
    "red and blue beside each other on a plate": (
        "stack_04",
        {"plate_red": (X, 0.09, 0), B: (X, 0.07, PLATE), R: (X, 0.11, PLATE), G: BASE},
    ),
    "red on blue alone, by green": ("stack_11", {B: BASE, G: BESIDE, R: on(BASE)}),
    "red on green alone, over the edge of blue": ("stack_11", {B: BASE, G: BESIDE, R: on(BESIDE, y=-0.001)}),
    "piers with a gap": ("stack_11", {B: BASE, G: (X, S + 0.01, 0), R: on(BASE, y=0.025)}),
    "a row for a pyramid": ("pyramid_01", {R: BASE, G: BESIDE, B: (X, 2 * S, 0)}),
    "a cube on one of two": ("pyramid_01", {R: BASE, G: BESIDE, B: on(BASE, y=0.001)}),
    "an L for a row": (
        "row_01",
        {"box_orange": BASE, "box_purple": BESIDE, "box_yellow": (X + S, S, 0)},
    ),
    "a row in another order": (
        "row_01",
        {"box_purple": BASE, "box_orange": BESIDE, "box_yellow": (X, 2 * S, 0)},
    ),
    "an L for a row of four": ("row_02", {R: BASE, G: BESIDE, B: (X, 2 * S, 0), Y: (X + S, 2 * S, 0)}),
    "on the rim of a bowl and a cube": (
        "bowls_01",
        {"bowl_blue": BOWL, R: (BOWL[0], BOWL[1] + 0.075, 0.04), G: (BOWL[0], BOWL[1] + 0.09, 0)},
    ),
    "beside the bowl": ("bowls_01", {"bowl_blue": BOWL, R: (BOWL[0], BOWL[1] + 0.0851, 0)}),
    "in another bowl": ("bowls_01", {"bowl_blue": BOWL, "bowl_red": BLUE_PLATE, R: on(BLUE_PLATE, FLOOR)}),
    "on a tray's wall and a cube": (
        "packing_01",
        {"tray_orange": TRAY, R: (TRAY[0], TRAY[1] + 0.115, 0.04), G: (TRAY[0], TRAY[1] + 0.13, 0)},
    ),
    "beside the tray": ("packing_01", {"tray_orange": TRAY, R: (TRAY[0], TRAY[1] + 0.1201, 0)}),
    "between cube and plate, on both": (
        "pick_and_place_01",
        {"plate_red": BASE, B: (X, 0.0, PLATE), R: on((X, 0.0, PLATE))},
    ),
    "a cube on a cube on the mat": ("mats_01", {"mat_purple": BASE, B: on(BASE, MAT), R: on(BASE, MAT + S)}),
    "blue over red's edge": ("pick_and_place_09", {R: BASE, B: on(BASE, y=0.01)}),
    "on the plate alone, by its edge": ("pick_and_place_13", {"plate_red": BASE, R: on(BASE, PLATE)}),
}

TRUE: dict[str, tuple[str, Mapping[str, Place]]] = {
    "red on blue": ("stack_01", {R: on(BASE, y=0.005), B: BASE}),
    "a stack of three": ("stack_04", {R: on(on(BASE)), B: on(BASE), G: BASE}),
    "a bridge": ("stack_11", {B: BASE, G: BESIDE, R: on(BASE, y=0.02)}),
    "a bridge off its middle": ("stack_11", {B: BASE, G: BESIDE, R: on(BASE, y=0.013)}),
    "a row": ("row_01", {"box_orange": BASE, "box_purple": BESIDE, "box_yellow": (X, 2 * S, 0)}),
    "a cube in a bowl": ("bowls_01", {"bowl_blue": BOWL, R: on(BOWL, FLOOR)}),
    "two in a tray, one on the other": (
        "packing_02",
        {
            "tray_orange": TRAY,
            R: on(TRAY, FLOOR),
            B: on(TRAY, FLOOR + S),
            G: on(TRAY, FLOOR, y=0.06),
        },
    ),
    "side by side": ("pick_and_place_09", {R: BASE, B: BESIDE}),
}


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


FURTHER = {
    "red beside blue", "red on blue, which stands on a plate", "a stack in another order",
    "red on blue alone, by green", "piers with a gap", "a row in another order", "an L for a row of four",
    "beside the bowl", "in another bowl", "on a tray's wall and a cube", "a cube on a cube on the mat",
    "blue over red's edge",
}  # fmt: skip
"""Where another one shows what keeps it from success."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name in FURTHER)) for name in FALSE]
)
def test_what_only_looks_done_is_no_success(name: str) -> None:
    level, places = FALSE[name]
    assert judge(load_level(level), places) == "running"


@pytest.mark.parametrize("name", TRUE)
def test_what_is_done_is_a_success(name: str) -> None:
    level, places = TRUE[name]
    assert judge(load_level(level), places) == "success"


def test_what_stands_on_a_plate_and_is_touched_is_not_lifted() -> None:
    assert judge(load_level("pickup_02"), {"plate_red": BASE, R: on(BASE, PLATE)}, touched=(R,)) == "running"


def test_a_slab_on_three_cubes_rests_on_each() -> None:
    """The one in the middle would carry nothing, if the outer ones carried it all."""
    states = [{"thing": "tray_orange", "rests_on": cube} for cube in (R, G, B)]
    level = load_level("packing_01")
    level = Level.model_validate({**level.model_dump(), "success": {"states": states}})
    y = (-0.07, 0.0, 0.07)
    cubes = {name: (X, at, 0.0) for name, at in zip((R, G, B), y, strict=True)}
    assert judge(level, {**cubes, "tray_orange": (X, 0.0, S)}) == "success"


def test_a_level_that_names_pairs_is_judged_as_the_paper_does() -> None:
    """There any contact of the pair counts: the red cube on a plate, flush with the blue one, is stacked."""
    pairs = {
        "collisions_true": [[R, B], [B, "table_lightgray"]],
        "collisions_false": [[R, "table_lightgray"]],
    }
    level = Level.model_validate({**load_level("stack_01").model_dump(), "success": pairs})
    assert judge(level, FALSE["red on a plate, flush with blue"][1]) == "success"
