"""The launch files as `ros2 launch` reads them: what they would start; a few launches start stand-ins."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from spca_core.errors import InputError
from spca_core.layout import random_layout
from spca_core.options import Manifest, RunOptions
from spca_core.paths import ROOT
from spca_core.run_folder import MANIFEST, RunFolder
from spca_core.world import load_world
from spca_ros.domain import claim
from spca_sim.gazebo.requirements import missing
from spca_sim.gazebo.write import build_world

if TYPE_CHECKING:
    from conftest import SourcedRos

pytestmark = pytest.mark.usefixtures("launch")

LAUNCH = Path(os.environ.get("SPCA_LAUNCH_FILES", ROOT / "launch"))
"""The files under test; `scripts/break_launch_files.py` puts broken copies in their place."""
LIFE_S = os.environ.get("SPCA_LAUNCH_PATIENCE", "300")
"""Seconds after which a stand-in ends by itself, so that a launch that hangs ends, too."""
BRINGUP = "bringup.launch.py"
TOLD = yaml.safe_load(Path(__file__).with_name("launch_arguments.yaml").read_text())
DECLARED = {
    (node, name): yaml.safe_load(default)
    for node, name, default in re.findall(
        r"^\| (\w+) \| `(\w+)` \| (.*?) \|", (ROOT / "docs" / "ros-interfaces.md").read_text(), re.MULTILINE
    )
}
"""The parameters of the project's nodes with their defaults, as test_ros_interfaces.py finds them to be."""
PROGRAMS = TOLD["there"]
"""What the launch files start, by package; and packages that have to be there."""
STAND_IN = """#!/bin/bash
# Says that it is there, and holds {said} open until a signal ends it, or until it ends as it is told.
exec 3<>{said}
echo "here {name} $$" >&3
if [ "$(cat {said}.ends 2>/dev/null)" = {name} ]; then exit 3; fi
case {name} in create | spawner) exit 0 ;; esac
if [ {name} = program ] && [ -d "$1" ] && [ ! -e {said}.ends ]; then  # a level ends when all have been there
  for ((left = {others}; left >= 0; left--)); do read -r -t {life} line <&3; echo "$line" >> {said}.seen; done
  exit 0
fi
read -r -t {life} <> {said}.never
echo "left {name}" >&3
"""
INDEX = "share/ament_index/resource_index/packages"
OTHERS = 7
"""Processes beside the program of a launch with the defaults."""
MUJOCO = {"sim": "mujoco", "arm": "embedded"}
NO_GAZEBO = pytest.mark.skipif(not missing("vendor"), reason="Gazebo is installed")
NO_MOVEIT = pytest.mark.skipif(importlib.util.find_spec("moveit") is not None, reason="MoveIt is installed")


@dataclass(frozen=True)
class Call:
    """A process that is to be started: its program, its arguments, and those of ROS."""

    program: str
    arguments: Sequence[str]
    parameters: Mapping[str, Mapping[str, Any]]
    """By node; `/**` stands for all."""
    environment: Mapping[str, str]
    world: str
    """What stands in the file of a world that it is given, which goes when the launch ends."""

    def of(self, node: str) -> dict[str, Any]:
        """The parameters that a node of the process has."""
        return {**self.parameters.get("/**", {}), **self.parameters.get(node, {})}


@pytest.fixture
def launch(sourced_ros: SourcedRos, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """ROS 2's launch for this process; what a launch changes in the environment is undone."""
    [packages] = sourced_ros.prefix.glob("lib/python3*/site-packages")
    before = dict(os.environ)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    importlib.import_module("launch.logging")  # takes the handlers of whoever logs before
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    monkeypatch.setenv("ROS_DOMAIN_ID", sourced_ros.domain)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for all programs; the pipe to which each says that it is there."""
    prefix, said = tmp_path / "prefix", tmp_path / "said"
    os.mkfifo(said)
    os.mkfifo(f"{said}.never")
    for package, programs in PROGRAMS.items():
        for folder in (INDEX, f"share/{package}", f"lib/{package}", "bin"):
            (prefix / folder).mkdir(parents=True, exist_ok=True)
        (prefix / INDEX / (package or "gz")).touch()
        for name in programs:
            program = prefix / ("lib" if package else "bin") / package / name
            program.write_text(STAND_IN.format(said=said, name=name, others=OTHERS, life=LIFE_S))
            program.chmod(0o755)
    (tmp_path / "moveit").mkdir()
    (tmp_path / "moveit" / "__init__.py").touch()
    (tmp_path / "more.yaml").write_text("executor: {ros__parameters: {tracking_lag: 0.6}}")
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("GZ_SIM_SYSTEM_PLUGIN_PATH", "GZ_SIM_RESOURCE_PATH", "LD_LIBRARY_PATH"):
        monkeypatch.setenv(name, "/mine")  # which Gazebo has to find, too
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{prefix}:{os.environ.get('AMENT_PREFIX_PATH', '')}")
    monkeypatch.setenv("PATH", f"{prefix / 'bin'}:{os.environ['PATH']}")
    return said


@pytest.fixture
def calls(installed: Path, monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What the launches of a test would start: nothing is."""
    from launch.actions import ExecuteLocal

    found: list[Call] = []

    def execute(action: Any, context: object) -> None:
        action.prepare(context)
        words, environment = action.process_details["cmd"], action.process_details["env"]
        at = next(n for n, word in enumerate(words) if str(installed.parent) in word or word in PROGRAMS[""])
        arguments, parameters = split(words[at + 1 :])
        world = "".join(Path(word).read_text() for word in arguments if word.endswith(".sdf"))
        found.append(Call(Path(words[at]).name, arguments, parameters, environment, world))

    monkeypatch.setattr(ExecuteLocal, "execute", execute)
    return found


def split(words: Sequence[str]) -> tuple[Sequence[str], dict[str, dict[str, Any]]]:
    """A command line's own arguments, and the parameters of nodes; refuses what ROS does not know."""
    at = words.index("--ros-args") if "--ros-args" in words else len(words)
    rest, parameters = iter(words[at:]), {}
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
    return words[:at], parameters


def values(text: str) -> dict[str, str]:
    """Launch arguments by name, from `name:=value name:=value`."""
    return {name: value for name, _, value in (word.partition(":=") for word in text.split())}


def run(file: str, given: Mapping[str, str], *more: Any) -> int:
    """The exit status that `ros2 launch` would have."""
    from launch import LaunchDescription, LaunchService
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    service = LaunchService(argv=[f"{name}:={value}" for name, value in given.items()])
    source = PythonLaunchDescriptionSource(str(LAUNCH / file))
    included = IncludeLaunchDescription(source, launch_arguments=list(given.items()))
    service.include_launch_description(LaunchDescription([included, *more]))
    return service.run()


@pytest.mark.parametrize(("file", "defaults"), TOLD["defaults"].items())
def test_every_argument_has_its_default(file: str, defaults: str) -> None:
    from launch import LaunchContext
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    source = PythonLaunchDescriptionSource(str(LAUNCH / file))
    declared = source.get_launch_description(LaunchContext()).get_launch_arguments()
    found = {argument.name: "".join(part.text for part in argument.default_value) for argument in declared}
    assert found == values(defaults)


@pytest.mark.parametrize(("given", "programs"), TOLD["programs"].items())
def test_arguments_choose_what_is_started(
    given: str, programs: str, calls: list[Call], caplog: pytest.LogCaptureFixture
) -> None:
    assert run(BRINGUP, values(given)) == 0
    assert sorted(call.program for call in calls) == programs.split()
    robots = [call.of("") for call in calls if call.program == "robot_state_publisher"]
    assert all(robot["use_sim_time"] and "<robot " in robot["robot_description"] for robot in robots)
    assert "not installed" not in caplog.text


@pytest.mark.parametrize(("given", "nodes"), TOLD["parameters"].items())
def test_what_is_given_arrives_at_the_nodes(
    given: str,
    nodes: dict[str, dict[str, Any]],
    calls: list[Call],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every parameter is one that the node declares, and of its type."""
    monkeypatch.chdir(tmp_path)
    assert run(BRINGUP, values(given)) == 0
    for node, wanted in nodes.items():
        program = {"sim": "sim" if "mujoco" in given else "gazebo", "display": "display"}.get(node, "program")
        [call] = (call for call in calls if call.program == program)
        assert {name: call.of(node).get(name) for name in wanted} == wanted, node
        if program != "gazebo":
            own = {name: type(value) for name, value in call.of(node).items() if name != "use_sim_time"}
            assert own == {name: type(DECLARED[node, name]) for name in own}


def test_gazebo_and_rviz_get_the_table_the_robot_and_its_controllers(calls: list[Call]) -> None:
    assert run(BRINGUP, values("level:=none headless:=false rviz:=true rate:=1.5 layout_seed:=3")) == 0
    world = load_world("tabletop")
    by = {call.program: call for call in calls if call.arguments != ["sim", "-g"]}
    assert by["gz"].arguments[:-1] == ["sim", "-s", "-r", "--headless-rendering"]
    assert by["gz"].world == build_world(world, random_layout(world, 3), 1.5, [])
    there = by["gz"].environment
    assert there["GZ_IP"] == "127.0.0.1" and there["GZ_PARTITION"].startswith("spca_")
    assert re.match("/mine:[^:]*/prefix/share(:|$)", there["GZ_SIM_RESOURCE_PATH"])
    assert there["GZ_SIM_SYSTEM_PLUGIN_PATH"] == "/mine:/mine"
    create = by["create"].arguments
    assert (create[:3], create[-2:]) == (["-world", world.name, "-file"], ["-name", world.robot.model])
    *controllers, _, file, waits, _ = by["spawner"].arguments
    assert controllers == ["joint_trajectory_controller", "gripper_controller", "joint_state_broadcaster"]
    assert file.endswith(".yaml") and waits == "--controller-manager-timeout"
    assert by["parameter_bridge"].arguments == ["/world/tabletop/control@ros_gz_interfaces/srv/ControlWorld"]
    bridge = by["parameter_bridge"].of("gazebo_bridge")
    assert bridge.pop("config_file").endswith(".yaml")
    assert bridge == {"subscription_heartbeat": 100, "use_sim_time": True}
    shown = by["rviz2"].of("")
    assert "<robot " in shown["robot_description_semantic"] and Path(by["rviz2"].arguments[1]).is_file()


def test_a_level_s_program_gets_the_folder_of_its_run(calls: list[Call], tmp_path: Path) -> None:
    folder, options = tmp_path / "run", {"seed": 5, "preset": "hard", "robot": "ur5e", "video": "hd"}
    given = {name.replace("seed", "layout_seed"): str(value) for name, value in options.items()}
    assert run(BRINGUP, {**given, "record": str(folder), "rate": "0.5", "level": "bowls_01"}) == 0
    by = {call.program: call for call in calls}
    assert by["program"].arguments == [str(folder)]
    assert {Path(call.environment["ROS_LOG_DIR"]) for call in calls} == {folder / "log"}
    wanted = RunOptions.model_validate({"level": "bowls_01", "rate": 0.5, **options})
    assert RunFolder.open(folder).read(MANIFEST, Manifest).options == wanted
    assert by["gazebo"].of("sim")["watched"] == "bowl_blue,box_red"


@pytest.mark.slow
def test_a_launch_ends_with_its_level_and_has_the_domain_until_then(installed: Path, tmp_path: Path) -> None:
    """All that it starts is there at once; nothing of it is left."""
    from launch.actions import OpaqueFunction

    def check_domain(*_: object) -> None:
        with pytest.raises(InputError), claim(int(os.environ["ROS_DOMAIN_ID"])):
            pass

    check = OpaqueFunction(function=check_domain)
    assert run(BRINGUP, {"record": str(tmp_path / "run")}, check) == 0
    seen = Counter(line.split()[1] for line in Path(f"{installed}.seen").read_text().splitlines())
    [wanted] = (programs for given, programs in TOLD["programs"].items() if given == "level:=none")
    assert seen == Counter(wanted.split())
    assert not list(tmp_path.glob("spca_gazebo_*"))
    with claim(int(os.environ["ROS_DOMAIN_ID"])):
        pass


@pytest.mark.parametrize(
    ("file", "given", "said"),
    [
        ("bringup", {"rate": "fast"}, "rate:="),
        ("bringup", {"levl": "touch_01"}, "no argument 'levl' (levl:=): did you mean 'level'?"),
        ("bringup", {"preset": "bogus"}, "disturbed-push"),
        pytest.param("bringup", {"arm": "moveit"}, "moveit_py", marks=NO_MOVEIT),
        pytest.param("gazebo", {"robot": "vendor"}, "ur_description", marks=NO_GAZEBO),
    ],
)
def test_bad_arguments_and_what_is_missing_are_one_clear_line(
    file: str, given: dict[str, str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert run(f"{file}.launch.py", (MUJOCO if file == "bringup" else {}) | given) != 0
    assert said in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "given", "said"),
    [
        ("gz", {}, "Gazebo has ended"),
        ("spawner", {}, "the robot's controllers did not start"),
        ("program", MUJOCO, "program-"),
        ("sim", MUJOCO, "sim-"),
    ],
)
def test_whatever_ends_by_itself_ends_the_launch_with_its_reason(
    program: str,
    given: dict[str, str],
    said: str,
    installed: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The program of a level is told which process it was."""
    Path(f"{installed}.ends").write_text(program)
    assert run(BRINGUP, {"record": str(tmp_path / "run"), **given}) != 0
    assert said in caplog.text
    told = tmp_path / "run" / "ended.txt"
    assert told.exists() == (program != "program")
    assert program != "sim" or said in told.read_text()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="util-linux is not installed")
def test_a_launch_that_is_killed_leaves_no_process(installed: Path) -> None:
    """As systemd and Docker may end one. The pipe has its end when the last process has gone."""
    given = {**MUJOCO, "level": "none"}
    code = f"from {Path(__file__).stem} import run; run('bringup.launch.py', {given})"
    found = os.pathsep.join((str(Path(__file__).parent), *sys.path))
    variables = {**os.environ, "PYTHONPATH": found}
    variables.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None)  # that is true of this process only
    both = os.open(installed, os.O_RDWR)
    with (
        open(installed) as said,
        subprocess.Popen([sys.executable, "-c", code], env=variables, stdout=both) as launch,
    ):
        os.close(both)
        here = list(islice((line for line in said if line.startswith("here ")), 4))
        launch.kill()
        assert len(here) == 4 and "left" not in said.read()


def test_a_second_graph_or_robot_in_a_domain_is_refused_before_anything_starts(
    calls: list[Call], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with claim(int(os.environ["ROS_DOMAIN_ID"])):
        assert run(BRINGUP, {}) != 0
    assert f"process {os.getpid()} of " in caplog.text and "has a program" in caplog.text
    monkeypatch.setattr("spca.ros.graph.robot_is_there", lambda: True)
    assert run(BRINGUP, {}) != 0
    assert "there is a robot in the ROS domain" in caplog.text
    assert not calls
