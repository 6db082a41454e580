"""Which cube is "the left cube" on a given table, and what a level changes about the table."""

import pytest

from spca_core.errors import InputError
from spca_core.geometry import Pose
from spca_core.layout import nominal_layout, random_layout
from spca_core.world import load_world
from spca_referee.level import Level, Placement, Role, load_level, starting_layout
from spca_referee.rules import assignments, bind_rules, support_kind

WORLD = load_world()
CUBES = ("box_green", "box_blue", "box_red")


def at(**cubes: tuple[float, float]) -> dict[str, Pose]:
    return {f"box_{colour}": Pose.from_xyz_yaw(x, y, 0.42) for colour, (x, y) in cubes.items()}


def models(pick: str, truth: dict[str, Pose]) -> list[str]:
    role = Role.model_validate({"kind": "cube", "pick": pick})
    return [found["it"] for found in assignments({"it": role}, WORLD, truth)]


def test_picks_follow_the_table_not_the_colours():
    """What is too close to call counts either way, and two cubes have no middle one."""
    table = at(red=(0.45, 0.2), green=(0.4, 0.0), blue=(0.5, -0.2))
    picked = {"leftmost": ["box_red"], "middle": ["box_green"], "rightmost": ["box_blue"]}
    picked |= {"nearest": ["box_green"], "farthest": ["box_blue"], "any": [*CUBES]}
    assert {pick: models(pick, table) for pick in picked} == picked
    for y, left in ((0.203, ["box_green", "box_red"]), (0.207, ["box_green"])):
        assert models("leftmost", at(red=(0.4, 0.200), green=(0.5, y), blue=(0.5, 0))) == left
    with pytest.raises(InputError, match="'it'"):
        models("middle", at(red=(0.4, 0.2), green=(0.5, 0.1)))


def ways(level: Level) -> list[tuple[tuple[str, str], ...]]:
    """The contacts of each way to fulfil a level on the nominal table."""
    return [tuple(way.contacts) for way in bind_rules(level, WORLD, nominal_layout(WORLD).poses)]


def test_a_level_of_any_things_has_all_its_ways():
    shuffles = ways(load_level("pick_and_place_10", WORLD))
    assert len(shuffles) == 2
    for contacts in shuffles:
        plates = [next(n for n in names if n.startswith("plate")) for names in contacts]
        assert sorted(plates) == ["plate_blue", "plate_green", "plate_red"]
        for names in contacts:
            assert len({n.partition("_")[2] for n in names}) == 2, "never on the plate of its own colour"
    tower = load_level("stack_09", WORLD)
    assert len({*ways(tower)}) == 6
    success = {"collisions_true": [["box_red", "lower_cube"]]}
    partners = ways(tower.model_validate({**tower.model_dump(), "success": success}))
    assert {name for contacts in partners for pair in contacts for name in pair} == set(CUBES)
    assert not any(("box_red", "box_red") in contacts for contacts in partners), "a role binds another model"
    with pytest.raises(InputError, match="no cube on a plate can be the 'plate_cube'"):
        ways(load_level("pickup_09", WORLD))


def test_layouts_stack_place_and_remove_wherever_a_plate_lies():
    level = load_level("pickup_09", WORLD)
    table = starting_layout(level.layout, WORLD, random_layout(WORLD, 3)).poses
    assert table["box_blue"].position[:2] == table["plate_green"].position[:2]
    assert [support_kind(box, WORLD, table) for box in ("box_blue", "box_red")] == ["plate", "table"]
    (way,) = bind_rules(level, WORLD, table)
    assert set(way.contacts) == {("box_blue", "cobot")}
    changes = {
        "box_red": Placement(on_top_of="box_blue"),
        "box_blue": Placement(at=(0.5, 0.1), yaw=0.3),
        "plate_red": Placement(absent=True),
    }
    table = starting_layout(changes, WORLD, nominal_layout(WORLD)).poses
    assert "plate_red" not in table and table["box_blue"].yaw == pytest.approx(0.3)
    assert table["box_red"].position == pytest.approx((0.5, 0.1, 0.46))
    circle = {"box_red": Placement(on_top_of="box_blue"), "box_blue": Placement(on_top_of="box_red")}
    with pytest.raises(InputError, match="in a circle"):
        starting_layout(circle, WORLD, nominal_layout(WORLD))
