"""Level files: the format, the curriculum as the specification has it, and what bad files are told."""

from pathlib import Path

import pytest
import yaml

from spca_core.contacts import pair
from spca_core.errors import InputError
from spca_core.layout import nominal_layout
from spca_core.names import GROUND
from spca_core.paths import LEVELS
from spca_core.world import load_world
from spca_referee.level import find_level, list_levels, load_level, starting_layout
from spca_referee.rules import bind_rules

WORLD = load_world()

SHORT = {"C": "cobot", "T": "table_lightgray", "R": "box_red", "G": "box_green", "B": "box_blue"}
SHORT |= {"pR": "plate_red", "pG": "plate_green", "pB": "plate_blue"}

CURRICULUM = yaml.safe_load(Path(__file__).with_name("curriculum.yaml").read_text())
"""The specification's table."""

PLAIN = yaml.safe_load(find_level("touch_02").read_text()) | {
    "success": {"collisions_true": [["cobot", "box_blue"]], "collisions_false": []},
    "fail": {"collisions_true": [["cobot", "table_lightgray"]], "collisions_false": []},
}


def contacts(text: str, sign: str) -> set[tuple[str, str]]:
    return {pair(*(SHORT[s] for s in word.split(sign))) for word in text.split() if sign in word}


@pytest.mark.parametrize("name", CURRICULUM)
def test_success_is_what_the_specification_says(name: str):
    text, seconds = CURRICULUM[name]
    level = load_level(name, WORLD)
    (rules,) = bind_rules(level, WORLD, nominal_layout(WORLD).poses)
    assert {pair(*p) for p in rules.contacts} == contacts(text, "+")
    lifted = {pair(state.thing, "table_lightgray") for state in rules.success.states if state.lifted}
    assert {pair(*p) for p in rules.success.collisions_false} | lifted == contacts(text, "-")
    assert level.time_limit_s == seconds


def test_the_curriculum_is_complete_and_every_level_has_the_usual_failures():
    """What a level is about must not fall to the ground, unless the ground is its goal."""
    assert len(CURRICULUM) == 31 and set(CURRICULUM) <= set(list_levels())
    for name in list_levels():
        level = load_level(name)
        world = load_world(level.world)
        assert not any(model in f"{level.title} {level.description}" for model in world.model_names), name
        table = starting_layout(level.layout, world, nominal_layout(world)).poses
        for rules in bind_rules(level, world, table):
            assert {("cobot", "table_lightgray"), ("cobot", "cobot")} <= set(rules.fail.collisions_true), name
            for box in {m for p in rules.contacts for m in p if m.startswith("box_")}:
                fails = (box, GROUND) in rules.fail.collisions_true
                assert fails != ((box, GROUND) in rules.contacts), (name, box)


def test_the_examples_in_the_readme_work(tmp_path: Path):
    level, roles, states, *_ = (LEVELS / "README.md").read_text().split("```yaml\n")[1:]
    content = yaml.safe_load(level.split("```")[0] + roles.split("```")[0])
    path = tmp_path / "level.yaml"
    path.write_text(yaml.safe_dump(content | yaml.safe_load(states.split("```")[0]), sort_keys=False))
    loaded = load_level(path, WORLD)
    assert set(loaded.roles) == {"left_cube", "some_cube", "its_plate"}
    assert [state.relation for state in loaded.success.states] == ["left_of", "group", "at_rest"]


BAD = yaml.safe_load(Path(__file__).with_name("wrong_levels.yaml").read_text())["refused"]


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_gets_one_clear_line(case: str, tmp_path: Path):
    changes, expected = BAD[case]
    path = tmp_path / "level.yaml"
    path.write_text(yaml.safe_dump({**PLAIN, **changes}))
    with pytest.raises(InputError) as error:
        load_level(path, WORLD)
    assert expected in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


def test_a_level_that_needs_what_the_world_or_the_table_lacks_is_refused():
    less = WORLD.model_copy(update={"objects": tuple(o for o in WORLD.objects if o.model != "box_blue")})
    with pytest.raises(InputError, match="unknown model 'box_blue'"):
        load_level("touch_02", less)
    table = dict(nominal_layout(WORLD).poses)
    del table["box_blue"]
    with pytest.raises(InputError, match="needs 'box_blue'"):
        bind_rules(load_level("touch_02", WORLD), WORLD, table)
