"""World files: the shipped ones load, and each bad one is reported in a single clear line."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from spca_core.errors import InputError, one_line
from spca_core.layout import nominal_layout
from spca_core.paths import WORLDS
from spca_core.world import Table, load_world

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
    assert world.name == name
    assert load_world(WORLDS / f"{name}.yaml") == load_world(str(WORLDS / f"{name}.yaml")) == world
    assert world.problems() == []


def test_the_nominal_table_is_arranged_as_specified() -> None:
    """Green left, blue in the middle and nearest, red right and farthest, the plates behind.

    All of them lie in the work area, and have the names that levels use.
    """
    world = load_world()
    assert world.name == "tabletop"
    boxes, plates = (tuple(f"{k}_{c}" for c in ("red", "green", "blue")) for k in ("box", "plate"))
    assert set(world.model_names) == {"cobot", "table_lightgray", "ground_plane", *boxes, *plates}
    assert world.model_names[:3] == ("cobot", "table_lightgray", "ground_plane")
    at = {o.model: o.position for o in world.objects}
    assert at["box_green"][1] > at["box_blue"][1] > at["box_red"][1], "left is +y"
    assert at["box_blue"][0] < at["box_green"][0] < at["box_red"][0], "near is small x"
    assert min(at[f"plate_{c}"][0] for c in ("red", "green", "blue")) > at["box_red"][0]
    for x, y in at.values():
        assert world.work_area.x[0] <= x <= world.work_area.x[1]
        assert world.work_area.y[0] <= y <= world.work_area.y[1]
    poses = nominal_layout(world).poses
    assert list(poses) == [o.model for o in world.objects]
    for item in world.objects:
        bottom = poses[item.model].position[2] - item.size[2] / 2
        assert bottom == pytest.approx(world.table.top), "everything lies on the table"
        assert poses[item.model].position[:2] == item.position
        assert poses[item.model].yaw == pytest.approx(item.yaw)


def test_a_world_of_ones_own_may_be_anywhere_and_say_little(tmp_path: Path) -> None:
    content = copy.deepcopy(GOOD)
    content["objects"] = []
    del content["camera"]["noise"]
    content["ground"] = {}
    content["name"] = "täbletöp"
    world = load_world(written(tmp_path, content))
    assert world.name == "täbletöp", "in UTF-8, whatever the locale"
    assert world.objects == () and world.camera.noise.depth_sigma == 0
    assert world.ground.model == "ground_plane"
    assert nominal_layout(world).poses == {}


def test_radius_is_that_of_the_circle_around_it() -> None:
    world = load_world()
    assert world.object("plate_red").radius == pytest.approx(0.055)
    assert world.object("box_red").radius == pytest.approx(0.02 * math.sqrt(2))
    sign = load_world("tabletop_sign").object("sign")
    assert sign.radius == pytest.approx(math.hypot(0.045, 0.08))


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-0.1, 0.4))
def test_a_table_contains_what_is_inside_its_edge(x: float, y: float, margin: float) -> None:
    table = Table.model_validate(GOOD["table"])
    inside = min(0.6 - abs(x - 0.35), 0.55 - abs(y)) - margin
    if abs(inside) > 1e-9:
        assert table.contains(x, y, margin) is (inside > 0)
    table = Table.model_validate({**GOOD["table"], "centre": (0, 0), "size": (1, 2, 0.04)})
    assert table.contains(0.5, -1.0), "the edge itself belongs to it"
    assert not table.contains(math.nextafter(0.5, 1), 0)


# Not there at all


@pytest.mark.parametrize(
    "name", ["tabletopp", "", "levels/stack_01", "a\nb", "x" * 300, "no\0name", "mine.yml"]
)
def test_an_unknown_world_is_told_the_known_ones(name: str) -> None:
    assert refusal(name).endswith(f"known worlds: {', '.join(sorted(p.stem for p in WORLDS.glob('*.yaml')))}")
    assert name or "unknown world" in refusal(WORLDS), "a folder is none"


# Not readable


def test_a_file_that_fails_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.symlink_to("/proc/self/mem")  # a regular file whose first byte nobody can read
    if not path.is_file():
        pytest.skip("no /proc here")
    assert f"cannot read the world ({path}): " in refusal(path)


# No world


@pytest.mark.parametrize("text", ["", "just words", "- a\n- list\n", "42", "null"])
def test_another_kind_of_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert f"not a world ({path}): the file: " in refusal(path)


def put(content: dict[str, Any], path: str, value: Any) -> None:
    """Put a value at a dotted path."""
    *above, last = path.split(".")
    place: Any = content
    for key in above:
        place = place[int(key)] if key.isdigit() else place[key]
    place[last] = value


@pytest.mark.parametrize(("path", "value", "says"), WRONG["fields"])
def test_a_wrong_field_is_named(tmp_path: Path, path: str, value: Any, says: str) -> None:
    content = copy.deepcopy(GOOD)
    put(content, path, value)
    file = written(tmp_path, content)
    assert f"not a world ({file}): {says}" in refusal(file)


def test_each_missing_part_is_named_and_several_faults_are_told_at_once(tmp_path: Path) -> None:
    for key in GOOD:
        content = {k: v for k, v in GOOD.items() if k != key}
        assert refusal(written(tmp_path, content)).endswith(f": {key}: is missing")
    assert refusal(written(tmp_path, {"name": "empty"})).endswith("ground: is missing (and 6 more)")
    content = copy.deepcopy(GOOD)
    put(content, "camera.far", 0.1)
    put(content, "objects.0.text", "hello")
    assert refusal(written(tmp_path, content)).endswith("near one; 'box_green' has a text but is no sign")


# A world that cannot be


@pytest.mark.parametrize(("path", "value", "says"), WRONG["impossible"])
def test_what_cannot_be_is_said(tmp_path: Path, path: str, value: Any, says: str) -> None:
    content = copy.deepcopy(GOOD)
    put(content, path, value)
    file = written(tmp_path, content)
    assert refusal(file) == f"impossible world ({file}): {says}"


@given(st.floats(-0.02, 0.02), st.floats(-math.pi, math.pi))
def test_overlap_is_a_matter_of_the_circles_around_two_things(gap: float, angle: float) -> None:
    assume(abs(gap) > 1e-9)
    world = load_world()
    apart = 0.055 + 0.02 * math.sqrt(2) + gap
    beside = (0.35 + apart * math.cos(angle), apart * math.sin(angle))
    cube = world.object("box_red").model_copy(update={"position": beside})
    plate = world.object("plate_red").model_copy(update={"position": (0.35, 0.0)})
    problems = world.model_copy(update={"objects": (cube, plate)}).problems()
    assert any("overlap" in p for p in problems) is (gap < 0)
