"""`spca check`: everything that is wrong with a level at once, and what looks wrong."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_referee.level import list_levels
from spca_tabletop.level_check import examine_level

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
        ("extends: tabletop", "extends: tabeltop", "did you mean 'tabletop'"),
        ("[0.75, 0.10, 0.10]", "red", r"objects\.0\.colour: should be a list$"),
    ):
        assert right in text
        path.write_text(text.replace(right, wrong))
        with pytest.raises(InputError, match=said):
            examine_level(str(path))


@pytest.mark.parametrize(("state", "words"), WRONG["states"])
def test_states_that_make_no_sense_are_errors(state: dict[str, object], words: str, tmp_path: Path) -> None:
    found = examine_level(written(tmp_path, success={"states": [state]}))
    assert any(words in error for error in found.errors), found.errors


@pytest.mark.parametrize(("changes", "words"), WRONG["warnings"])
def test_what_looks_wrong_is_a_warning(changes: dict[str, object], words: str, tmp_path: Path) -> None:
    found = examine_level(written(tmp_path, **changes))
    assert found.errors == ()
    assert any(words in w for w in found.warnings), found.warnings
