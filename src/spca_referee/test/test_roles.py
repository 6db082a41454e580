"""Roles and starting layouts.

They say which cube is "the left cube" on a given table, and what a level changes about it.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout, random_layout
from spca_core.world import load_world
from spca_referee.level import Placement, load_level, starting_layout
from spca_referee.roles import Role, assignments, support_kind
from spca_referee.rules import bind_rules

WORLD = load_world()
CUBES = ("box_green", "box_blue", "box_red")


def at(**cubes: tuple[float, float]) -> dict[str, Pose]:
    return {f"box_{colour}": Pose.from_xyz_yaw(x, y, 0.42) for colour, (x, y) in cubes.items()}


def models(pick: str, truth: dict[str, Pose]) -> list[str]:
    role = Role.model_validate({"kind": "cube", "pick": pick})
    return [found["it"] for found in assignments({"it": role}, WORLD, truth)]


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        ("leftmost", ["box_red"]),
        ("middle", ["box_green"]),
        ("rightmost", ["box_blue"]),
        ("nearest", ["box_green"]),
        ("farthest", ["box_blue"]),
        ("any", [*CUBES]),
    ],
)
def test_picks_follow_the_table_not_the_colours(pick: str, expected: list[str]):
    table = at(red=(0.45, 0.2), green=(0.4, 0.0), blue=(0.5, -0.2))
    assert models(pick, table) == expected


def test_what_is_too_close_to_call_counts_either_way():
    assert models("leftmost", at(red=(0.4, 0.200), green=(0.5, 0.203), blue=(0.5, 0))) == [
        "box_green",
        "box_red",
    ]
    assert models("leftmost", at(red=(0.4, 0.200), green=(0.5, 0.207), blue=(0.5, 0))) == ["box_green"]


def test_two_cubes_have_no_middle_one():
    with pytest.raises(InputError, match="'it'"):
        models("middle", at(red=(0.4, 0.2), green=(0.5, 0.1)))


@given(st.integers(0, 10_000))
def test_left_middle_right_are_three_different_cubes(seed: int):
    table = random_layout(WORLD, seed).poses
    left, middle, right = (models(pick, table) for pick in ("leftmost", "middle", "rightmost"))
    assert {*left, *middle, *right} == set(CUBES)
    y = {m: table[m].position[1] for m in CUBES}
    assert max(y, key=y.__getitem__) in left
    assert min(y, key=y.__getitem__) in right


def test_shuffle_all_knows_both_ways_to_do_it():
    ways = bind_rules(load_level("pick_and_place_10", WORLD), WORLD, nominal_layout(WORLD).poses)
    assert len(ways) == 2
    for way in ways:
        plates = [next(n for n in names if n.startswith("plate")) for names in way.contacts]
        assert sorted(plates) == ["plate_blue", "plate_green", "plate_red"]
        for names in way.contacts:
            assert len({n.partition("_")[2] for n in names}) == 2, "never on the plate of its own colour"


def test_a_tower_of_any_two_has_six_ways():
    ways = bind_rules(load_level("stack_09", WORLD), WORLD, nominal_layout(WORLD).poses)
    assert len({way.contacts for way in ways}) == 6


def test_a_role_never_binds_the_model_it_is_paired_with():
    level = load_level("stack_09", WORLD)
    success = {"collisions_true": [["box_red", "lower_cube"]]}
    level = level.model_validate({**level.model_dump(), "success": success})
    partners = {
        n for way in bind_rules(level, WORLD, nominal_layout(WORLD).poses) for p in way.contacts for n in p
    }
    assert partners == set(CUBES)
    assert all(
        ("box_red", "box_red") not in w.contacts
        for w in bind_rules(level, WORLD, nominal_layout(WORLD).poses)
    )


@pytest.mark.parametrize("seed", [None, 3, 4])
def test_a_cube_can_start_on_a_plate_wherever_that_lies(seed: int | None):
    level = load_level("pickup_09", WORLD)
    base = nominal_layout(WORLD) if seed is None else random_layout(WORLD, seed)
    table = starting_layout(level.layout, WORLD, base).poses
    assert table["box_blue"].position[:2] == table["plate_green"].position[:2]
    assert support_kind("box_blue", WORLD, table) == "plate"
    assert support_kind("box_red", WORLD, table) == "table"
    (way,) = bind_rules(level, WORLD, table)
    assert set(way.contacts) == {("box_blue", "cobot")}


def test_a_level_about_plates_needs_a_cube_on_one():
    with pytest.raises(InputError, match="no cube on a plate can be the 'plate_cube'"):
        bind_rules(load_level("pickup_09", WORLD), WORLD, nominal_layout(WORLD).poses)


def test_layouts_stack_place_and_remove():
    changes = {
        "box_red": Placement(on_top_of="box_blue"),
        "box_blue": Placement(at=(0.5, 0.1), yaw=0.3),
        "plate_red": Placement(absent=True),
    }
    table = starting_layout(changes, WORLD, nominal_layout(WORLD)).poses
    assert "plate_red" not in table
    assert table["box_blue"].yaw == pytest.approx(0.3)
    assert table["box_red"].position == pytest.approx((0.5, 0.1, 0.46))
    assert support_kind("box_red", WORLD, table) == "cube"


def test_a_circle_of_supports_is_refused():
    changes = {"box_red": Placement(on_top_of="box_blue"), "box_blue": Placement(on_top_of="box_red")}
    with pytest.raises(InputError, match="in a circle"):
        starting_layout(changes, WORLD, nominal_layout(WORLD))
