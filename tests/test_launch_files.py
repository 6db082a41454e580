"""The launch files as `ros2 launch` reads them, down to the processes that they start."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
import yaml

from spca.ros.processes import processes
from spca_core.options import Manifest, RunOptions
from spca_core.run_folder import MANIFEST, RunFolder
from spca_gazebo.requirements import missing
from spca_ros.domain import claim

if TYPE_CHECKING:
    from conftest import SourcedRos

pytestmark = [pytest.mark.usefixtures("launch"), pytest.mark.timeout(600)]

LAUNCH = Path(__file__).resolve().parents[1] / "launch"
FILES = sorted(LAUNCH.glob("*.launch.py"))
CHOICES = {
    "sim": ("gazebo", "mujoco"),
    "arm": ("moveit", "embedded"),
    "robot": ("generated", "none"),
    "headless": ("true", "false"),
    "rviz": ("false", "true"),
}
"""Arguments that decide which processes there are; each combination is tried."""
CYCLED = {
    "pipeline": ("ompl", "pilz_industrial_motion_planner", "chomp", "stomp"),
    "proposer": ("builtin", "openai"),
    "preset": ("nominal", "shuffled", "noisy", "hard", "disturbed"),
    "layout_seed": ("0", "5"),
    "rate": ("", "0", "1", "0.5"),
    "level": ("stack_01", "bowls_01", "none"),
}
"""Arguments that are passed on: their values take turns over the combinations of the others."""


def combinations() -> list[dict[str, str]]:
    """Arguments of bringup.launch.py; an empty value is one that is not given."""
    turns = {name: itertools.cycle(values) for name, values in CYCLED.items()}
    drawn = [
        dict(zip(CHOICES, values, strict=True)) | {name: next(turn) for name, turn in turns.items()}
        for values in itertools.product(*CHOICES.values())
    ]
    return [{name: value for name, value in given.items() if value} for given in drawn]


NO_GAZEBO = pytest.mark.skipif(not missing("vendor"), reason="Gazebo is installed")
NO_MOVEIT = pytest.mark.skipif(importlib.util.find_spec("moveit") is not None, reason="MoveIt is installed")


# --- what is not installed here, played by stand-ins --------------------------------------------------------


@pytest.fixture
def launch(sourced_ros: SourcedRos, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """ROS 2's launch for this process; what a launch changes in the environment is undone."""
    [packages] = sourced_ros.prefix.glob("lib/python3*/site-packages")
    before = dict(os.environ)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    monkeypatch.setenv("ROS_DOMAIN_ID", str(1 + os.getpid() % 101))
    yield
    os.environ.clear()
    os.environ.update(before)


EXECUTABLES = {
    "controller_manager": ["spawner"],
    "robot_state_publisher": ["robot_state_publisher"],
    "ros_gz_bridge": ["parameter_bridge"],
    "ros_gz_sim": ["create"],
    "rviz2": ["rviz2"],
    "spca": ["run_level"],
    "spca_gazebo": ["sim"],
    "spca_tabletop": ["display"],
}
LIBRARIES = (
    "gz_ros2_control",
    "joint_state_broadcaster",
    "joint_trajectory_controller",
    "ros_gz_interfaces",
)
STAND_IN = """#!/bin/sh
# Says how it was called. A program that does one thing ends well, the client when all others are there.
called={said}/{package}+{name}+$$
printf '%s\\0' "$@" > "$called.new" && mv "$called.new" "$called"
case {name} in
  create | spawner) exit 0 ;;
  run_level | all_there)
    until [ "$(ls {said} | grep -vc new)" = "$(cat {said}.wanted)" ]; do sleep 0.05; done
    exit 0 ;;
esac
exec sleep 600
"""


@dataclass(frozen=True)
class Call:
    """A process that was started: the package and the program, its arguments, and those of ROS."""

    package: str
    program: str
    arguments: tuple[str, ...]
    parameters: Mapping[str, Mapping[str, Any]]
    """By node; `/**` stands for all."""


INDEX = "share/ament_index/resource_index/packages"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A prefix with stand-ins for all programs; the folder to which they say how they were called."""
    prefix, said = tmp_path / "prefix", tmp_path / "said"
    said.mkdir()
    programs = {package: list(names) for package, names in EXECUTABLES.items()}
    for spec in processes(RunOptions(level="stack_01")):
        programs.setdefault(spec.package, []).append(spec.executable)
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
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{prefix}:{os.environ.get('AMENT_PREFIX_PATH', '')}")
    monkeypatch.setenv("PATH", f"{prefix / 'bin'}:{os.environ['PATH']}")
    return said


def stand_in(path: Path, package: str, said: Path) -> None:
    path.write_text(STAND_IN.format(said=said, package=package or "bin", name=path.name))
    path.chmod(0o755)


def calls(said: Path) -> list[Call]:
    """How the stand-ins were called since the last time."""
    found = []
    for file in sorted(said.iterdir()):
        package, program, _ = file.name.split("+")
        before, parameters = split(file.read_text().split("\0")[:-1])
        found.append(Call(package, program, before, parameters))
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


# --- what the real programs accept --------------------------------------------------------------------------


def check_gz(call: Call) -> None:
    if call.arguments == ("sim", "-g"):
        return
    *options, world = call.arguments
    assert options == ["sim", "-s", "-r", "--headless-rendering"]
    factor = ElementTree.fromstring(Path(world).read_text()).findtext("world/physics/real_time_factor")
    assert factor is not None and float(factor) >= 0


def check_bridge(call: Call) -> None:
    [given] = call.parameters.values()
    assert call.arguments == () and set(given) == {"config_file", "use_sim_time"}
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


def check_client(call: Call) -> None:
    [folder] = call.arguments
    RunFolder.open(Path(folder)).read(MANIFEST, Manifest)


def check_node(call: Call) -> None:
    """Every parameter is one that a node declares, with a value of the type of its default."""
    assert call.arguments == ()
    nodes = NODES.get(call.program, {call.program: call.package})
    for node, package in nodes.items():
        declared, shared = declared_parameters(package), {"use_sim_time"}
        for spec in processes(RunOptions(level="stack_01")):
            shared |= set(spec.parameters)
        for name, value in {**call.parameters.get("/**", {}), **call.parameters.get(node, {})}.items():
            assert name in {*declared, *shared}, f"{node}: {name}"
            if (kind := declared.get(name)) is not None:
                assert type(value) is kind, f"{node}: {name}:={value!r}"


NODES = {
    "brain": {"supervisor": "spca", "planner": "spca_planner", "coder": "spca_coder", "sense": "spca_sense"}
}
"""The nodes of a program, and the packages that have them, where they are not called as it is."""
CHECKS = {
    "gz": check_gz,
    "parameter_bridge": check_bridge,
    "create": check_create,
    "spawner": check_spawner,
    "robot_state_publisher": check_state_publisher,
    "rviz2": check_rviz,
    "run_level": check_client,
}


def declared_parameters(package: str) -> dict[str, type | None]:
    """What the nodes of a package declare, and the type of each default that is a literal."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    found: dict[str, type | None] = {}
    for file in Path(spec.origin).parent.rglob("*.py"):
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


# --- tests --------------------------------------------------------------------------------------------------


def run(file: str, given: Mapping[str, str], *more: Any) -> int:
    """The exit status that `ros2 launch` would have."""
    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    service = LaunchService()
    source = PythonLaunchDescriptionSource(str(LAUNCH / file))
    included = IncludeLaunchDescription(source, launch_arguments=list(given.items()))
    service.include_launch_description(LaunchDescription([included, *more]))
    return service.run()


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_every_argument_has_a_default_and_words(file: Path) -> None:
    from launch import LaunchContext
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    description = PythonLaunchDescriptionSource(str(file)).get_launch_description(LaunchContext())
    declared = description.get_launch_arguments()
    assert declared
    for argument in declared:
        assert argument.default_value is not None and argument.description, argument.name


GAZEBO = ["create", "gz", "parameter_bridge", "robot_state_publisher", "sim", "spawner"]


def waits(given: Mapping[str, str]) -> bool:
    """Whether no level is run, so that the launch does not end."""
    return "none" in (given.get("robot"), given.get("level"))


def expected(given: Mapping[str, str]) -> list[str]:
    """The programs that these arguments ask for."""
    sim, real = given.get("sim", "gazebo"), given.get("robot") == "none"
    programs = [
        spec.executable for spec in processes(RunOptions(level="stack_01")) if spec.executable != "sim"
    ]
    gazebo = sim == "gazebo" and not real
    programs += ["sim"] * (not real) + ["run_level"] * (not waits(given))
    if gazebo:
        programs += [name for name in GAZEBO if name != "sim"]
        programs += ["gz"] * (given.get("headless") == "false")
    if given.get("rviz") == "true":
        programs += ["display", "rviz2"]
        programs += ["robot_state_publisher"] * (sim == "mujoco" and not real)
    return sorted(programs)


def start_all(
    said: Path, file: str, given: Mapping[str, str], wanted: Sequence[str], ends: bool
) -> list[Call]:
    """Launch until all wanted programs were called, and check how; `ends`: the launch does so by itself."""
    from launch.actions import EmitEvent, ExecuteProcess, RegisterEventHandler
    from launch.event_handlers import OnProcessExit, OnShutdown
    from launch.events import Shutdown

    started: list[Call] = []

    def check(*_: object) -> None:  # before the files go to which the calls refer
        started[:] = [call for call in calls(said) if call.program != "all_there"]
        for call in started:
            CHECKS.get(call.program, check_node)(call)

    stand_in(said.with_name("all_there"), "", said)
    watch = ExecuteProcess(cmd=[str(said.with_name("all_there"))])
    end = OnProcessExit(target_action=watch, on_exit=[EmitEvent(event=Shutdown())])
    stays = [] if ends else [watch, RegisterEventHandler(end)]
    said.with_suffix(".wanted").write_text(f"{len(wanted) + len(stays[:1])}\n")
    status = run(file, given, *stays, RegisterEventHandler(OnShutdown(on_shutdown=check)))
    assert status == 0, given
    assert sorted(call.program for call in started) == sorted(wanted), given
    assert not list(Path(tempfile.gettempdir()).glob("spca_gazebo_*"))
    return started


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("bringup.launch.py", None),
        ("gazebo.launch.py", GAZEBO),
        ("rviz.launch.py", ["display", "robot_state_publisher", "rviz2"]),
    ],
)
def test_the_defaults_of_each_file_start_what_its_programs_accept(
    file: str, wanted: list[str] | None, installed: Path
) -> None:
    started = start_all(installed, file, {}, wanted or expected({}), ends=wanted is None)
    for client in (call for call in started if call.program == "run_level"):
        shutil.rmtree(client.arguments[0])  # it is in runs/


@pytest.mark.slow
def test_every_combination_of_arguments_starts_what_its_programs_accept(
    installed: Path, tmp_path: Path
) -> None:
    for number, given in enumerate(combinations()):
        given["record"] = str(tmp_path / "runs" / str(number))
        start_all(installed, "bringup.launch.py", given, expected(given), ends=not waits(given))


@pytest.mark.parametrize(
    ("file", "given", "said"),
    [
        ("bringup", {"level": "stak_01"}, "stack_01"),
        ("bringup", {"rate": "fast"}, "rate:="),
        ("bringup", {"layout_seed": "x"}, "layout_seed:="),
        pytest.param("bringup", {"arm": "moveit"}, "moveit_py", marks=NO_MOVEIT),
        pytest.param("gazebo", {}, "ros_gz_sim", marks=NO_GAZEBO),
        pytest.param("gazebo", {"robot": "vendor"}, "ur_description", marks=NO_GAZEBO),
    ],
)
def test_bad_arguments_and_what_is_missing_are_one_clear_line(
    file: str, given: dict[str, str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    embedded = {"sim": "mujoco", "arm": "embedded"} if file == "bringup" else {}
    assert run(f"{file}.launch.py", embedded | given) != 0
    assert said in caplog.text


def test_a_launch_that_fails_at_its_start_leaves_no_files(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("spca_description.write.build_srdf", lambda *_: 1 / 0)
    for given in ({"rate": "fast"}, {}):
        assert run("gazebo.launch.py", given) != 0
        assert not list(tmp_path.glob("spca_gazebo_*"))
    assert "rate:=" in caplog.text and "division" in caplog.text


def test_a_second_graph_in_a_domain_is_refused_before_anything_starts(
    installed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with claim(int(os.environ["ROS_DOMAIN_ID"])):
        assert run("bringup.launch.py", {}) != 0
    assert f"process {os.getpid()} has a graph" in caplog.text
    assert not calls(installed)
