"""World files: the shipped ones load, and each bad one is reported in a single clear line."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from spca_core.errors import InputError, one_line
from spca_core.paths import WORLDS
from spca_core.world import load_world

GOOD: dict[str, Any] = yaml.safe_load((WORLDS / "tabletop.yaml").read_text(encoding="utf-8"))
WRONG = yaml.safe_load(Path(__file__).with_name("wrong_worlds.yaml").read_text(encoding="utf-8"))


def refusal(path: str | Path) -> str:
    """The line that a world is refused with."""
    with pytest.raises(InputError) as error:
        load_world(path)
    line = str(error.value)
    assert len(line.splitlines()) == 1, line
    assert error.value.where and error.value.hint, "says where, and what would be right"
    assert one_line(error.value.where) in line and error.value.exit_status == 2
    return line


def written(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "mine.yaml"
    path.write_bytes(yaml.safe_dump(content, allow_unicode=True).encode())
    return path


@pytest.mark.parametrize("name", sorted(p.stem for p in WORLDS.glob("*.yaml")))
def test_the_worlds_that_come_along_load_by_name_and_by_path(name: str) -> None:
    world = load_world(name)
    assert world.name == name and world.problems() == []
    assert load_world(WORLDS / f"{name}.yaml") == world


def test_a_world_of_ones_own_may_be_anywhere_and_say_little(tmp_path: Path) -> None:
    content = {**copy.deepcopy(GOOD), "objects": [], "ground": {}, "name": "täbletöp"}
    del content["camera"]["noise"]
    world = load_world(written(tmp_path, content))
    assert world.name == "täbletöp", "in UTF-8, whatever the locale"
    assert world.objects == () and world.camera.noise.depth_sigma == 0


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 300, "no\0name", "mine.yml"])
def test_an_unknown_world_is_told_the_known_ones(name: str) -> None:
    assert refusal(name).endswith(f"known worlds: {', '.join(sorted(p.stem for p in WORLDS.glob('*.yaml')))}")


ROWS = [(part, *row) for part in ("fields", "impossible") for row in WRONG[part]]


@pytest.mark.parametrize(("part", "path", "value", "says"), ROWS)
def test_a_wrong_field_is_named_and_what_cannot_be_is_said(
    tmp_path: Path, part: str, path: str, value: Any, says: str
) -> None:
    content = copy.deepcopy(GOOD)
    *above, last = path.split(".")
    place: Any = content
    for key in above:
        place = place[int(key)] if key.isdigit() else place[key]
    place[last] = value
    file, told = written(tmp_path, content), "not a world" if part == "fields" else "impossible world"
    assert f"{told} ({file}): {says}" in refusal(file)


def test_a_missing_part_is_named_and_several_faults_are_told_at_once(tmp_path: Path) -> None:
    assert refusal(written(tmp_path, {"name": "empty"})).endswith("ground: is missing (and 6 more)")
    content = copy.deepcopy(GOOD)
    content["camera"]["far"], content["objects"][0]["text"] = 0.1, "hello"
    assert refusal(written(tmp_path, content)).endswith("near one; 'box_green' has a text but is no sign")
