"""World files: the shipped ones load, and each bad one is reported in a single clear line."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
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
Change = Callable[[dict[str, Any]], Any]


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
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", sorted(p.stem for p in WORLDS.glob("*.yaml")))
def test_the_worlds_that_come_along_load_by_name_and_by_path(name: str) -> None:
    world = load_world(name)
    assert world.name == name
    assert load_world(WORLDS / f"{name}.yaml") == load_world(str(WORLDS / f"{name}.yaml")) == world
    assert world.problems() == []


def test_the_tabletop_is_the_default_and_has_the_names_that_levels_use() -> None:
    world = load_world()
    assert world.name == "tabletop"
    boxes, plates = (tuple(f"{k}_{c}" for c in ("red", "green", "blue")) for k in ("box", "plate"))
    assert set(world.model_names) == {"cobot", "table_lightgray", "ground_plane", *boxes, *plates}
    assert world.model_names[:3] == ("cobot", "table_lightgray", "ground_plane")


def test_the_nominal_table_is_arranged_as_specified() -> None:
    """Green left, blue in the middle and nearest, red right and farthest, the plates behind.

    All of them lie in the work area.
    """
    world = load_world()
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
    world = load_world(written(tmp_path, content))
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


def test_the_edge_itself_belongs_to_the_table() -> None:
    table = Table.model_validate({**GOOD["table"], "centre": (0, 0), "size": (1, 2, 0.04)})
    assert table.contains(0.5, -1.0) and not table.contains(math.nextafter(0.5, 1), 0)


# Not there at all


@pytest.mark.parametrize(
    "name", ["tabletopp", "", "levels/stack_01", "a\nb", "x" * 300, "no\0name", "mine.yml"]
)
def test_an_unknown_world_is_told_the_known_ones(name: str) -> None:
    assert refusal(name).endswith(f"known worlds: {', '.join(sorted(p.stem for p in WORLDS.glob('*.yaml')))}")


def test_a_folder_is_no_world(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    assert "unknown world" in refusal(tmp_path / "folder.yaml")


# Not readable


def test_worlds_are_utf8_in_every_locale(tmp_path: Path) -> None:
    content = copy.deepcopy(GOOD)
    content["name"] = "täbletöp"
    path = tmp_path / "mine.yaml"
    path.write_bytes(yaml.safe_dump(content, allow_unicode=True).encode())
    assert load_world(path).name == "täbletöp"


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


def at(path: str, value: Any) -> Change:
    """Put `value` at a dotted path."""

    def change(content: dict[str, Any]) -> None:
        *above, last = path.split(".")
        place: Any = content
        for key in above:
            place = place[int(key)] if key.isdigit() else place[key]
        place[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("gravity", 9.81, "gravity: no such key"),
        ("two\nlines", 1, "two lines: no such key"),
        ("name", 7, "name: Input should be a valid string"),
        ("table", None, "table: "),
        ("table.top", "high", "table.top: Input should be a valid number"),
        ("table.top", 0, "table.top: Input should be greater than 0"),
        ("table.top", math.nan, "table.top: "),
        ("table.size", [1.2, 1.1, 0], "table.size: every size must be positive"),
        ("table.centre", [0.35], "table.centre.1: is missing"),
        ("table.centre", [math.inf, 0], "table.centre.0: Input should be a finite number"),
        ("table.colour", [200, 200, 190], "table.colour: red, green and blue each lie between 0 and 1"),
        ("table.friction", -1, "table.friction: Input should be greater than 0"),
        ("robot.home", [0] * 7, "robot: home needs 6 angles for the Universal Robots UR5, not 7"),
        ("robot.base", [0, 0, 0.4], "robot.base: "),
        ("robot.base.yaw", math.nan, "robot.base.yaw: Input should be a finite number"),
        ("work_area.x", [0.66, 0.34], "work_area.x: the smaller end comes first"),
        ("work_area.y", [0.1, 0.1], "work_area.y: the smaller end comes first"),
        ("camera.width", 640.5, "camera.width: Input should be a valid integer"),
        ("camera.height", 0, "camera.height: Input should be greater than 0"),
        ("camera.fx", 0, "camera.fx: Input should be greater than 0"),
        ("camera.fy", math.inf, "camera.fy: Input should be a finite number"),
        ("camera.quaternion", [1, 0, 0, 1], "camera.quaternion: a quaternion (x, y, z, w) has"),
        ("camera.rate_hz", 0, "camera.rate_hz: Input should be greater than 0"),
        ("camera.noise.depth_dropout", 1.5, "camera.noise.depth_dropout: Input should be less than"),
        ("camera.noise.depth_sigma", -0.1, "camera.noise.depth_sigma: Input should be greater than"),
        ("light.ambient", -1, "light.ambient: Input should be greater than or equal to 0"),
        ("objects", {"box_red": {}}, "objects: "),
        ("objects.0.kind", "pear", "objects.0.kind: no kind 'pear' is installed, only cube"),
        ("objects.0.mass", 0, "objects.0.mass: Input should be greater than 0"),
        ("objects.0.size", [math.nan, 1, 1], "objects.0.size.0: Input should be a finite number"),
        ("objects.0.size", [0.04, -0.04, 0.04], "objects.0.size: every size must be positive"),
        ("objects.0.colour", [-0.1, 0, 0], "objects.0.colour: red, green and blue"),
        ("objects.0.position", [0.4, 0.0, 0.42], "objects.0.position: Tuple should have at most 2 items"),
        ("objects.0.yaw", math.inf, "objects.0.yaw: Input should be a finite number"),
        ("objects.0.text", "x" * 201, "objects.0.text: String should have at most 200 characters"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, path: str, value: Any, says: str) -> None:
    content = copy.deepcopy(GOOD)
    at(path, value)(content)
    file = written(tmp_path, content)
    assert f"not a world ({file}): {says}" in refusal(file)


def test_each_missing_part_is_named(tmp_path: Path) -> None:
    for key in GOOD:
        content = {k: v for k, v in GOOD.items() if k != key}
        assert refusal(written(tmp_path, content)).endswith(f": {key}: is missing")


def test_several_mistakes_are_counted(tmp_path: Path) -> None:
    line = refusal(written(tmp_path, {"name": "empty"}))
    assert line.endswith("ground: is missing (and 6 more)")


# A world that cannot be


def twice(content: dict[str, Any]) -> None:
    content["objects"][1]["model"] = "box_green"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (twice, "model name 'box_green' is used twice"),
        (at("objects.0.model", "cobot"), "model name 'cobot' is used twice"),
        (at("objects.0.model", "cube_red"), "'cube_red' and 'box_red' have one symbol, 'cube_red'"),
        (at("objects.0.model", "table"), "'table_lightgray' and 'table' have one symbol, 'table'"),
        (at("objects.0.text", "hello"), "'box_green' has a text but is no sign"),
        (at("objects.0.position", [0.42, 0.03]), "'box_green' and 'box_blue' overlap by 27 mm"),
        (at("objects.0.position", [2.0, 0.0]), "'box_green' at (2.0, 0.0) does not lie on the table"),
        (at("objects.0.size", [0.04, 0.04, 0.05]), "'box_green' is a cube with sides of different lengths"),
        (at("objects.3.size", [0.11, 0.12, 0.008]), "'plate_green' is a plate with two diameters"),
        (at("work_area.x", [0.34, 1.0]), "the work area reaches beyond the table"),
        (at("work_area.y", [-0.28, 0.56]), "the work area reaches beyond the table"),
        (at("camera.position", [0.5, 0, 0.39]), "the camera is not above the table"),
        (at("camera.far", 0.2), "the camera's far limit is not beyond its near one"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, change: Change, says: str) -> None:
    content = copy.deepcopy(GOOD)
    change(content)
    path = written(tmp_path, content)
    assert refusal(path) == f"impossible world ({path}): {says}"


def test_all_that_cannot_be_is_said_at_once(tmp_path: Path) -> None:
    content = copy.deepcopy(GOOD)
    at("camera.far", 0.1)(content)
    at("objects.0.text", "hello")(content)
    assert refusal(written(tmp_path, content)).endswith("near one; 'box_green' has a text but is no sign")


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
