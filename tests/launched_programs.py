"""The programs that launch files start: stand-ins that tell how they were called, and checks of that."""

from __future__ import annotations

import ast
import importlib.util
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from spca_core.options import THINKING, Manifest, described
from spca_core.run_folder import MANIFEST, RunFolder

EXECUTABLES = {
    "controller_manager": ["spawner"],
    "robot_state_publisher": ["robot_state_publisher"],
    "ros_gz_bridge": ["parameter_bridge"],
    "ros_gz_sim": ["create"],
    "rviz2": ["rviz2"],
    "spca": ["program"],
    "spca_sim": ["gazebo", "sim"],
    "spca_tabletop": ["display"],
}
LIBRARIES = ("gz_ros2_control", "joint_state_broadcaster", "joint_trajectory_controller", "ros_gz_interfaces")
STAND_IN = """#!/bin/sh
# Says how it was called. A program that does one thing ends well, a level when all others are there.
called={said}/{package}+{name}+$$
{{ env | grep -E '{environment}' | tr '\\n' '\\0'; printf '\\0'; printf '%s\\0' "$@"; }} > "$called.new"
mv "$called.new" "$called"
if [ "$(cat {said}.ends 2>/dev/null)" = {name} ]; then exit 3; fi
does={name}
if [ {name} = program ] && [ "${{1#--}}" = "$1" ]; then does=level; fi
case $does in
  create | spawner) exit 0 ;;
  level | all_there)
    left={patience}
    until [ "$(ls {said} | grep -vc new)" = "$(cat {said}.wanted)" ]; do
      sleep 0.05
      [ $((left -= 1)) -gt 0 ] || exit 0
    done
    exit 0 ;;
esac
exec sleep {life}
"""


ENVIRONMENT = ("GZ_IP", "GZ_PARTITION", "GZ_SIM_RESOURCE_PATH", "GZ_SIM_SYSTEM_PLUGIN_PATH", "ROS_LOG_DIR")


USER_S = {
    "GZ_SIM_SYSTEM_PLUGIN_PATH": "/plugins",
    "GZ_SIM_RESOURCE_PATH": "/models",
    "LD_LIBRARY_PATH": "/libraries",
}
"""What a user may have set before: Gazebo has to find it, too."""


@dataclass(frozen=True)
class Call:
    """A process that was started: the package and the program, its arguments, and those of ROS."""

    package: str
    program: str
    arguments: tuple[str, ...]
    parameters: Mapping[str, Mapping[str, Any]]
    """By node; `/**` stands for all."""
    environment: Mapping[str, str]
    """Those variables of `ENVIRONMENT` that it was given."""

    def of(self, node: str) -> dict[str, Any]:
        """The parameters that a node of the process has."""
        return {**self.parameters.get("/**", {}), **self.parameters.get(node, {})}


INDEX = "share/ament_index/resource_index/packages"


def install_stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put stand-ins for all programs on the path; the folder to which they say how they were called."""
    prefix, said = tmp_path / "prefix", tmp_path / "said"
    said.mkdir()
    programs = {package: list(names) for package, names in EXECUTABLES.items()}
    for package in (*programs, *LIBRARIES):
        for folder in (INDEX, f"share/{package}", f"lib/{package}", "bin"):
            (prefix / folder).mkdir(parents=True, exist_ok=True)
        (prefix / INDEX / package).touch()
        for name in programs.get(package, ()):
            stand_in(prefix / "lib" / package / name, package, said)
    stand_in(prefix / "bin" / "gz", "", said)
    stand_in(prefix / "bin" / "rviz2", "", said)
    (tmp_path / "moveit").mkdir()
    (tmp_path / "moveit" / "__init__.py").touch()
    monkeypatch.setenv("DISPLAY", ":0")
    for name, value in USER_S.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{prefix}:{os.environ.get('AMENT_PREFIX_PATH', '')}")
    monkeypatch.setenv("PATH", f"{prefix / 'bin'}:{os.environ['PATH']}")
    return said


def stand_in(path: Path, package: str, said: Path) -> None:
    recorded = "^(" + "|".join(ENVIRONMENT) + ")="
    values = {"said": said, "package": package or "bin", "name": path.name, "environment": recorded}
    patience = int(os.environ.get("SPCA_LAUNCH_PATIENCE", "4000"))
    values |= {"patience": str(patience), "life": str(patience // 8)}  # so that a launch that hangs ends, too
    path.write_text(STAND_IN.format_map(values))
    path.chmod(0o755)


def calls(said: Path) -> list[Call]:
    """How the stand-ins were called since the last time."""
    found = []
    for file in sorted(said.iterdir()):
        package, program, _ = file.name.split("+")
        environment, _, words = ("\0" + file.read_text()).partition("\0\0")
        before, parameters = split(words.split("\0")[:-1])
        variables = dict(line.split("=", 1) for line in environment.split("\0")[1:])
        found.append(Call(package, program, before, parameters, variables))
        file.unlink()
    return found


def split(words: Sequence[str]) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    """A command line's own arguments, and the parameters of nodes; refuses what ROS does not know."""
    if "--ros-args" not in words:
        return tuple(words), {}
    at = words.index("--ros-args")
    rest, parameters = iter(words[at + 1 :]), {}
    for word in rest:
        if word == "--params-file":
            for node, given in yaml.safe_load(Path(next(rest)).read_text()).items():
                parameters.setdefault(node, {}).update(given["ros__parameters"])
        elif word == "-p":
            name, _, value = next(rest).partition(":=")
            node, _, name = name.rpartition(":")
            parameters.setdefault(node or "/**", {})[name] = yaml.safe_load(value)
        elif word == "-r":
            assert ":=" in next(rest)
        else:
            assert word == "--ros-args", f"ROS knows no argument {word}"
    return tuple(words[:at]), parameters


def check_gz(call: Call) -> None:
    if call.arguments == ("sim", "-g"):
        return
    *options, world = call.arguments
    assert options == ["sim", "-s", "-r", "--headless-rendering"]
    factor = ElementTree.fromstring(Path(world).read_text()).findtext("world/physics/real_time_factor")
    assert factor is not None and float(factor) >= 0


def check_bridge(call: Call) -> None:
    [given] = call.parameters.values()
    assert call.arguments[0].endswith("/control@ros_gz_interfaces/srv/ControlWorld")
    assert set(given) == {"config_file", "subscription_heartbeat", "use_sim_time"}
    assert given["subscription_heartbeat"] > 0  # milliseconds
    keys = {"ros_topic_name", "gz_topic_name", "ros_type_name", "gz_type_name", "direction", "lazy"}
    assert all(set(entry) <= keys for entry in yaml.safe_load(Path(given["config_file"]).read_text()))


def check_create(call: Call) -> None:
    options = dict(zip(call.arguments[::2], call.arguments[1::2], strict=True))
    assert set(options) == {"-world", "-file", "-name"} and Path(options["-file"]).is_file()


def check_spawner(call: Call) -> None:
    words = list(call.arguments)
    at = words.index("--param-file")
    file = yaml.safe_load(Path(words[at + 1]).read_text())
    assert words[at + 2 :][:1] == ["--controller-manager-timeout"] and float(words[at + 3]) > 0
    known = set(file["controller_manager"]["ros__parameters"])
    assert at > 0 and set(words[:at]) <= known


def check_state_publisher(call: Call) -> None:
    [given] = call.parameters.values()
    assert call.arguments == () and set(given) == {"robot_description", "use_sim_time"}
    assert ElementTree.fromstring(given["robot_description"]).tag == "robot"


def check_rviz(call: Call) -> None:
    assert call.arguments[0] == "-d" and Path(call.arguments[1]).is_file()


def check_program(call: Call) -> None:
    for folder in call.arguments:  # at most one
        RunFolder.open(Path(folder)).read(MANIFEST, Manifest)
    check_parameters(call)


def check_node(call: Call) -> None:
    assert call.arguments == ()
    check_parameters(call)


def check_parameters(call: Call) -> None:
    """Every parameter is one that a node declares, with a value of the type of its default."""
    nodes = NODES.get(call.program, {call.program: call.package})
    for node, package in nodes.items():
        declared, shared = declared_parameters(package), {"use_sim_time", "sense", "planner", "coder"}
        if node == "supervisor":
            declared = {**declared, **{option: type(described(option)[0]) for option in THINKING}}
        for name, value in {**call.parameters.get("/**", {}), **call.parameters.get(node, {})}.items():
            assert name in {*declared, *shared}, f"{node}: {name}"
            if (kind := declared.get(name)) is not None:
                assert type(value) is kind, f"{node}: {name}:={value!r}"


NODES = {
    "program": {"supervisor": "spca.ros", "executor": "spca_tabletop.ros", "sense": "spca_sense"},
    "display": {"display": "spca_tabletop.ros"},
    "gazebo": {"sim": "spca_sim.gazebo"},
}
"""The nodes of a program, and the folders that have them, if not named as it and its package are."""
CHECKS = {
    "gz": check_gz,
    "parameter_bridge": check_bridge,
    "create": check_create,
    "spawner": check_spawner,
    "robot_state_publisher": check_state_publisher,
    "rviz2": check_rviz,
    "program": check_program,
}


@cache
def declared_parameters(package: str) -> dict[str, type | None]:
    """What the nodes of a folder declare, and the type of each default that is a literal."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    found: dict[str, type | None] = {}
    for file in Path(spec.origin).parent.glob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "parameter"
                and len(call.args) >= 2
                and isinstance(call.args[0], ast.Constant)
            ):
                default = call.args[1]
                found[call.args[0].value] = type(default.value) if isinstance(default, ast.Constant) else None
    return found
