"""`spca check`: everything that is wrong with a level at once, and what looks wrong."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from spca_core.errors import InputError
from spca_core.kinds import SUPPORTS
from spca_core.names import GROUND_SYMBOL, TABLE_SYMBOL, symbol_of
from spca_core.paths import ROOT
from spca_referee.level import list_levels, load_level
from spca_referee.level import task as task_of
from spca_tabletop.language.understanding import understand
from spca_tabletop.level_check import examine_level, nominal_observation

SNIPPETS = ROOT / "docs" / "snippets"
LEVEL: dict[str, Any] = {
    "task_group": "stack",
    "task_id": "77",
    "title": "Stack",
    "description": "Stack the red cube on the blue cube.",
    "difficulty": "easy",
    "time_limit_s": 60,
    "success": {"collisions_true": [["box_red", "box_blue"]]},
}

WRONG = yaml.safe_load(Path(__file__).with_name("wrong_levels.yaml").read_text())


def written(folder: Path, **changes: object) -> str:
    path = folder / "level.yaml"
    path.write_text(yaml.safe_dump({k: v for k, v in {**LEVEL, **changes}.items() if v is not None}))
    return str(path)


def test_the_levels_that_come_along_are_clean() -> None:
    for name in list_levels():
        found = examine_level(name)
        assert (found.errors, found.warnings) == ((), ()), name


def test_a_level_says_in_its_text_what_it_asks_for() -> None:
    """What a solid must rest on is what the text, as it is read, says, or it has a neighbour to stand by.

    Where that is the table alone, the text says so in a word, as not everybody reads it as the grammar does.
    """
    for name in list_levels():
        level, seen = load_level(name), nominal_observation(name)
        goals = understand(task_of(level), seen)
        for state in level.success.states:
            thing, below = (symbol_of(model or "") for model in (state.thing, state.rests_on))
            if not below or seen.objects.get(thing, "plate") in SUPPORTS or below == GROUND_SYMBOL:
                continue
            for goal in goals:
                placed = [a for a in goal if a[1] == thing and a[0] in ("on", "at", "across", "on_edge")]
                beside = [a for a in goal if a[0] in ("next_to", "abreast") and thing in a]
                there = ("on", thing, TABLE_SYMBOL) not in goal or seen.holds("on", thing, TABLE_SYMBOL)
                assert beside or (placed and (there or "table" in task_of(level).text)), (name, thing)


def test_a_misspelt_key_hides_no_other_mistake(tmp_path: Path) -> None:
    """Nor a world's file beside the level."""
    states = [{"thing": "bx_red", "rests_in": "box_blue"}]
    path = written(tmp_path, success={"states": states}, time_limit=60, time_limit_s=None)
    errors = examine_level(path).errors
    assert errors[:3] == (
        "success.states.0.rests_in: no such key; did you mean 'rests_on'?",
        "time_limit: no such key; did you mean 'time_limit_s'?",
        "time_limit_s: is missing",
    )
    assert errors[3].startswith("unknown model 'bx_red': did you mean 'box_red'")
    (tmp_path / "beside.yaml").write_text("extends: tabletop\n")
    found = examine_level(written(tmp_path, world="beside.yaml", time_limit=60))
    assert len(found.errors) == 1 and found.errors[0].startswith("time_limit: no such key"), found.errors


def test_the_file_of_a_world_is_checked_as_one(tmp_path: Path) -> None:
    path = tmp_path / "my_world.yaml"
    path.write_text(text := (SNIPPETS / "my_world.yaml").read_text())
    found = examine_level(str(path))
    assert (found.errors, found.reading) == ((), "a world with ball_red, box_yellow, bowl_blue")
    for right, wrong, said in (
        ("mass: 0.05", "masss: 0.05", r"objects\.0\.masss: no such key; did you mean 'mass'\?"),
        ("mass: 0.05", "mass: 0.05, colour: red", "the key 'colour' is there twice"),
        ("extends: tabletop", "extends: tabeltop", "did you mean 'tabletop'"),
        ("extends:", "extnds:", r"extnds: no such key; did you mean 'extends'\?"),
        ("[0.75, 0.10, 0.10]", "red", r"objects\.0\.colour: should be a list$"),
    ):
        assert right in text
        path.write_text(text.replace(right, wrong))
        with pytest.raises(InputError, match=said):
            examine_level(str(path))


def test_all_errors_come_at_once(tmp_path: Path) -> None:
    found = examine_level(written(tmp_path, time_limit_s=-1, title=None, desciption="x", dwell_s="soon"))
    assert len(found.errors) == 4
    assert any(e.startswith("desciption: ") and "did you mean 'description'?" in e for e in found.errors)
    pairs = [["box_rod", "box_blue"], ["plate_gren", "box_blue"], ["box_blue", "box_blue"]]
    found = examine_level(written(tmp_path, success={"collisions_true": pairs}))
    assert len(found.errors) == 3 and "did you mean 'box_red'" in found.errors[0] and not found.warnings


@pytest.mark.parametrize(("state", "words"), WRONG["states"])
def test_states_that_make_no_sense_are_errors(state: dict[str, object], words: str, tmp_path: Path) -> None:
    found = examine_level(written(tmp_path, success={"states": [state]}))
    assert any(words in error for error in found.errors), found.errors


@pytest.mark.parametrize(("changes", "words"), WRONG["warnings"])
def test_what_looks_wrong_is_a_warning(changes: dict[str, object], words: str, tmp_path: Path) -> None:
    found = examine_level(written(tmp_path, **changes))
    assert found.errors == ()
    assert any(words in w for w in found.warnings), found.warnings


def test_a_text_and_a_group_of_ones_own_are_no_warning(tmp_path: Path) -> None:
    """What a look judges has no condition that could hold already, and `own` is no slip of `row`."""
    text = "Put the blue cube on the red plate."
    path = written(tmp_path, task_group="own", description=text, success=None, judge="look")
    found = examine_level(path)
    assert (found.errors, found.warnings, found.reading) == ((), (), "the blue cube on the red plate")
