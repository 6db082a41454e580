"""Tables drawn by preset and seed: possible, reproducible, and never won before anything was done."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.geometry import Pose
from spca_core.world import load_world
from spca_referee.level import list_levels, load_level
from spca_referee.rules import bind_rules
from spca_sim.variation import SimVariation
from spca_tabletop.presets import draw_table

WORLD = load_world()
PRESETS = ("nominal", "shuffled", "noisy", "hard")


@given(st.sampled_from(list_levels()), st.sampled_from(PRESETS), st.integers(0, 10_000))
def test_no_level_is_won_by_doing_nothing(name, preset, seed):
    level = load_level(name)
    world = load_world(level.world)
    layout, _ = draw_table(preset, seed, world, level)
    assert not any(rules.hold_at_start(layout, world) for rules in bind_rules(level, world, layout.poses))


def flat(pose: Pose) -> tuple[float, float]:
    return pose.position[:2]


def clear_of_plates(poses, at, distance):
    return all(math.dist(at, flat(poses[o.model])) > distance for o in WORLD.objects if o.kind == "plate")


def lead(poses):
    """How far the nearest cube is before the next one, in metres."""
    near, second, *_ = sorted(pose.position[0] for name, pose in poses.items() if name.startswith("box"))
    return second - near


DRAWN = {
    "what a level puts somewhere is clear of what is drawn there":
        ("arrange_05", lambda poses: clear_of_plates(poses, flat(poses["box_red"]), 0.083)),
    "one thing is the nearest":
        ("touch_09", lambda poses: lead(poses) > 0.003),
    # On 78 of 300 shuffled tables one did, and nobody can lift a plate.
    "no plate covers the place that a level names":
        ("arrange_04", lambda poses: clear_of_plates(poses, (0.45, 0.05), 0.08)),
    # On 4 of 25 shuffled tables there was none: the green cube lay at the left edge of the work area.
    "there is room at the side that a level names":
        ("arrange_03", lambda poses: WORLD.work_area.y[1] - poses["box_green"].position[1] > 0.035),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_table_leaves_the_room_that_its_level_needs(name):
    level, holds = DRAWN[name]
    for preset, seed in (("shuffled", 99300), ("hard", 140000), *(("shuffled", seed) for seed in range(40))):
        assert holds(draw_table(preset, seed, WORLD, load_level(level))[0].poses), f"seed {seed}"


def test_nominal_changes_nothing_but_others_do():
    level = load_level("stack_01")
    assert draw_table("nominal", 3, WORLD, level)[1] == SimVariation()
    assert draw_table("hard", 3, WORLD, level)[1] != SimVariation()
    assert draw_table("shuffled", 3, WORLD, level)[0] != draw_table("shuffled", 4, WORLD, level)[0]
