"""The launch files as `ros2 launch` reads them, down to the processes that they start."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import psutil
import pytest
import yaml

from spca_core.errors import InputError
from spca_core.layout import nominal_layout, random_layout
from spca_core.options import THINKING, Manifest, RunOptions
from spca_core.paths import ROOT
from spca_core.run_folder import MANIFEST, RunFolder
from spca_core.world import load_world
from spca_robot.description.moveit_config import build_srdf
from spca_robot.description.names import GENERATED
from spca_robot.description.urdf import build_urdf
from spca_ros import names
from spca_ros.domain import claim
from spca_ros.node import ros_session
from spca_sim.gazebo.requirements import missing
from spca_sim.gazebo.write import build_world

if TYPE_CHECKING:
    from conftest import SourcedRos

sys.path.insert(0, str(Path(__file__).parent))
from launched_programs import CHECKS, NODES, Call, calls, check_node, install_stand_ins, stand_in

pytestmark = pytest.mark.usefixtures("launch")

LAUNCH = Path(os.environ.get("SPCA_LAUNCH_FILES", ROOT / "launch"))
"""The files under test; `scripts/break_launch_files` puts broken copies in their place."""
FILES = sorted(LAUNCH.glob("*.launch.py"))


ARGUMENTS = yaml.safe_load(Path(__file__).with_name("launch_arguments.yaml").read_text())
DEFAULTS = {
    file: {name: value for name, _, value in (word.partition(":=") for word in told["defaults"].split())}
    for file, told in ARGUMENTS.items()
}
"""What each file promises where nothing is given."""


MUJOCO = {"sim": "mujoco", "arm": "embedded"}
WORLDS = {"stack_01": "tabletop", "bowls_01": "bowls", "none": "tabletop"}
"""The worlds of the levels."""
WATCHED = {"stack_01": "box_blue,box_red", "bowls_01": "bowl_blue,box_red", "none": ""}
"""The objects that a level's conditions name."""


def combinations(file: str) -> list[dict[str, str]]:
    """Values of all arguments of a launch file but `record`."""
    draw, choices, others = random.Random(7), ARGUMENTS[file]["choices"], ARGUMENTS[file]["passed on"]
    return [
        dict(zip(choices, values, strict=True)) | {name: draw.choice(others[name]) for name in others}
        for values in itertools.product(*choices.values())
    ]


NO_GAZEBO = pytest.mark.skipif(not missing("vendor"), reason="Gazebo is installed")
NO_MOVEIT = pytest.mark.skipif(importlib.util.find_spec("moveit") is not None, reason="MoveIt is installed")


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
    """Stand-ins for what is not installed here; the folder to which they say how they were called."""
    return install_stand_ins(tmp_path, monkeypatch)


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


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_every_argument_has_its_default_and_words(file: Path) -> None:
    from launch import LaunchContext
    from launch.launch_description_sources import PythonLaunchDescriptionSource

    description = PythonLaunchDescriptionSource(str(file)).get_launch_description(LaunchContext())
    declared = description.get_launch_arguments()
    assert {argument.name for argument in declared} == set(DEFAULTS[file.name])
    for argument in declared:
        default = "".join(part.text for part in argument.default_value)
        assert default == DEFAULTS[file.name][argument.name] and argument.description, argument.name


def options_of(given: Mapping[str, str]) -> RunOptions:
    """The options of a run that bringup.launch.py stands for."""
    return RunOptions(
        level="stack_01" if given["level"] == "none" else given["level"],
        robot="ur5e" if given["robot"] == "ur5e" else "",
        preset=given["preset"],
        seed=int(given["layout_seed"] or 0),
        proposer=given["proposer"],
        rate=float(given["rate"]) or None,
        view=given["headless"] == "false",
        llm=given["llm"],
        vision=given["vision"] == "true",
        detector=given["detector"],
        skills=given["skills"],  # type: ignore[arg-type]
        library=str(Path(given["library"]).absolute()) if given["library"] else "",
        engine=given["engine"],
        solver_timeout_s=float(given["solver_timeout_s"]),
        rehearse=given["rehearse"],  # type: ignore[arg-type]
        video="hd" if given["video"] == "hd" else given["video"] == "true",
    )


def world_of(given: Mapping[str, str]) -> str:
    """The world of the level, with the arm that was asked for."""
    return WORLDS[given["level"]] + "@ur5e" * (given["robot"] == "ur5e")


def included(given: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The launch files that bringup.launch.py includes, and what they are given."""
    real, world = given["robot"] == "none", world_of(given)
    files = {}
    if given["sim"] == "gazebo" and not real:
        files["gazebo.launch.py"] = {
            **DEFAULTS["gazebo.launch.py"],
            "headless": given["headless"],
            "world": world,
            "layout_seed": given["layout_seed"].replace("0", ""),
            "rate": given["rate"],
            "watched": WATCHED[given["level"]],
        }
    if "true" in (given["rviz"], given["markers"]):
        publishes = "true" if given["sim"] == "mujoco" and not real else "false"
        files["rviz.launch.py"] = {"world": world, "rviz": given["rviz"], "robot_state_publisher": publishes}
    return files


def parameters_of_nodes(given: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The parameters that the project's nodes have: those of the files, and on top what is asked for."""
    real = given["robot"] == "none"
    names = ["nodes.yaml"] + ["gazebo.yaml"] * ("gazebo.launch.py" in included(given))
    files = [ROOT / "launch" / "config" / name for name in names]
    files += [Path(given["config"])] * bool(given["config"])
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for file in files:
        for node, values in yaml.safe_load(file.read_text()).items():
            found[node] |= values["ros__parameters"]
    for node in ("supervisor", "executor", "sense", "sim"):
        found[node]["use_sim_time"] = not real
    found["supervisor"] |= {name: given[name] for name in ("view", "sense", "planner", "coder")}
    found["supervisor"] |= {name: getattr(options_of(given), name) for name in THINKING}
    found["supervisor"]["library"] = given["library"]
    found["sense"]["world"] = found["sim"]["world"] = world_of(given)
    found["sim"]["rate"] = float(given["rate"])
    found["sim"]["view"] = "none" if given["headless"] == "true" else "window"
    found["executor"] |= {
        "arm": given["arm"],
        "pipeline": given["pipeline"],
        "robot": "generated",
        "driver": "ros2_control" if real else "spca",
    }
    return found


def programs(file: str, given: Mapping[str, str]) -> list[str]:
    """The programs that these arguments ask for."""
    if file == "gazebo.launch.py":
        others = ["create", "gazebo", "gz", "parameter_bridge", "robot_state_publisher", "spawner"]
        return others + ["gz"] * (given["headless"] == "false")
    if file == "rviz.launch.py":
        asked = {"rviz2": given["rviz"], "robot_state_publisher": given["robot_state_publisher"]}
        return ["display", *(name for name, wanted in asked.items() if wanted == "true")]
    own = ["program", *["sim"] * (given["sim"] == "mujoco" and given["robot"] != "none")]
    return own + [name for other, its in included(given).items() for name in programs(other, its)]


def waits(given: Mapping[str, str]) -> bool:
    """Whether bringup.launch.py runs no level, so that it does not end."""
    return "none" in (given["robot"], given["level"])


def check_values(file: str, given: Mapping[str, str], call: Call) -> None:
    """Every value that was given, or is a default, has arrived where it belongs."""
    if file == "bringup.launch.py":
        responsible = [
            other for other, its in included(given).items() if call.program in programs(other, its)
        ]
        for other in responsible:
            check_values(other, included(given)[other], call)
        if not responsible:
            check_bringup(given, call)
    elif call.program != "gz" or call.arguments != ("sim", "-g"):
        (check_gazebo if file == "gazebo.launch.py" else check_view)(given, call)


def check_bringup(given: Mapping[str, str], call: Call) -> None:
    assert len(call.arguments) == (call.program == "program" and not waits(given))
    for folder in map(Path, call.arguments):
        assert folder.parent == Path(given["record"] or ROOT / "runs" / "new").parent
        assert RunFolder.open(folder).read(MANIFEST, Manifest).options == options_of(given)
        assert Path(call.environment["ROS_LOG_DIR"]) == folder / "log"
    wanted = parameters_of_nodes(given)
    for node in NODES.get(call.program, [call.program]):
        assert call.of(node) == wanted[node], (node, given)
    if not waits(given):
        assert Path(call.environment["ROS_LOG_DIR"]).name == "log"


def check_gazebo(given: Mapping[str, str], call: Call) -> None:
    world = load_world(given["world"])
    assert call.environment["GZ_PARTITION"].startswith("spca_")
    assert call.environment["GZ_IP"] == "127.0.0.1"
    match call.program:
        case "gz":
            seed = given["layout_seed"]
            layout = random_layout(world, int(seed)) if seed else nominal_layout(world)
            watched = [name for name in given["watched"].split(",") if name]
            wanted = build_world(world, layout, float(given["rate"]), watched)
            assert Path(call.arguments[-1]).read_text() == wanted
            models = call.environment["GZ_SIM_RESOURCE_PATH"].split(":")
            assert models[0] == "/models" and models[1].endswith("/prefix/share")
            plugins = call.environment["GZ_SIM_SYSTEM_PLUGIN_PATH"].split(":")
            assert (plugins[0], plugins[-1]) == ("/plugins", "/libraries")
        case "create":
            assert ("-world", world.name) == call.arguments[:2]
            assert ("-name", world.robot.model) == call.arguments[-2:]
        case "spawner":
            assert len([word for word in call.arguments[:4] if not word.startswith("-")]) == 3
        case "gazebo":
            asked = {name: given[name] for name in ("world", "robot", "watched")}
            urdf = call.of("sim").pop("urdf")
            assert call.of("sim") == {**asked, "urdf": urdf, "use_sim_time": True}
            assert ElementTree.parse(urdf).getroot().tag == "robot"
        case _:
            assert call.of(call.program)["use_sim_time"] is True


def check_view(given: Mapping[str, str], call: Call) -> None:
    match call.program:
        case "display":
            assert call.of("display") == {"world": given["world"]}
        case "robot_state_publisher":
            robot = build_urdf(load_world(given["world"]))
            assert call.of("") == {"robot_description": robot, "use_sim_time": True}
        case "rviz2":
            robot = build_urdf(load_world(given["world"]))
            semantics = build_srdf(robot, load_world(given["world"]), GENERATED)
            descriptions = {"robot_description": robot, "robot_description_semantic": semantics}
            assert call.of("") == {**descriptions, "use_sim_time": True}


def start_all(said: Path, file: str, given: Mapping[str, str]) -> list[Call]:
    """Launch until all wanted programs were called, and check how."""
    from launch.actions import EmitEvent, ExecuteProcess, OpaqueFunction, RegisterEventHandler
    from launch.event_handlers import OnProcessExit, OnShutdown
    from launch.events import Shutdown

    values, domain = {**DEFAULTS[file], **given}, int(os.environ["ROS_DOMAIN_ID"])
    wanted = programs(file, values)
    ends = file == "bringup.launch.py" and not waits(values)
    started: list[Call] = []
    wrong: list[Exception] = []

    def check(*_: object) -> None:  # before the files go to which the calls refer
        try:
            started[:] = [call for call in calls(said) if call.program != "all_there"]
            for call in started:
                CHECKS.get(call.program, check_node)(call)
                check_values(file, values, call)
        except Exception as error:  # in the launch's own loop it would stop the launch from ending
            wrong.append(error)

    def check_domain(*_: object) -> None:
        if file == "bringup.launch.py":
            with pytest.raises(InputError), claim(domain):
                pass  # nobody else can have it while the launch lasts

    stand_in(said.with_name("all_there"), "", said)
    watch = ExecuteProcess(cmd=[str(said.with_name("all_there"))])
    end = OnProcessExit(target_action=watch, on_exit=[EmitEvent(event=Shutdown())])
    stays = [] if ends else [watch, RegisterEventHandler(end)]
    said.with_suffix(".wanted").write_text(f"{len(wanted) + len(stays[:1])}\n")
    checks = [OpaqueFunction(function=check_domain), RegisterEventHandler(OnShutdown(on_shutdown=check))]
    status = run(file, given, *stays, *checks)
    if wrong:
        raise wrong[0]
    assert status == 0, given
    assert sorted(call.program for call in started) == sorted(wanted), given
    assert not list(Path(tempfile.gettempdir()).glob("spca_gazebo_*"))
    with claim(domain):
        pass  # it is free again
    return started


@pytest.mark.parametrize("file", DEFAULTS)
def test_the_defaults_of_each_file_start_what_its_programs_accept(file: str, installed: Path) -> None:
    for call in start_all(installed, file, {}):
        if call.program == "program":
            shutil.rmtree(call.arguments[0])  # it is in runs/


def each_combination() -> Iterator[Any]:
    for file in DEFAULTS:
        for number in range(len(combinations(file))):
            yield pytest.param(
                file, number, marks=[pytest.mark.full] * (number not in ARGUMENTS[file]["covering"])
            )


@pytest.mark.slow
@pytest.mark.parametrize(("file", "number"), each_combination())
def test_every_combination_of_arguments_starts_what_its_programs_accept(
    file: str, number: int, installed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    given = combinations(file)[number]
    if file == "bringup.launch.py":
        given["record"] = str(tmp_path / "recorded" / "run")
        if given["config"]:
            given["config"] = str(tmp_path / given["config"])
            Path(given["config"]).write_text("executor: {ros__parameters: {tracking_lag: 0.6}}")
    start_all(installed, file, given)
    assert "not installed" not in caplog.text


@pytest.mark.parametrize(
    ("file", "given", "said"),
    [
        ("bringup", {"level": "stak_01"}, "stack_01"),
        ("bringup", {"rate": "fast"}, "rate:="),
        ("bringup", {"layout_seed": "x"}, "layout_seed:="),
        ("bringup", {"levl": "touch_01"}, "no argument 'levl' (levl:=): did you mean 'level'?"),
        ("bringup", {"seed": "7"}, "did you mean 'layout_seed'?"),
        ("bringup", {"level": "stak_01", "world": "tabletop"}, "no argument 'world' of this file"),
        ("bringup", {"preset": "bogus"}, "disturbed-push"),
        ("bringup", {"skills": "some"}, "skills"),
        ("bringup", {"proposer": "nobody"}, "nobody"),
        pytest.param("bringup", {"arm": "moveit"}, "moveit_py", marks=NO_MOVEIT),
        pytest.param("gazebo", {}, "ros_gz_sim", marks=NO_GAZEBO),
        pytest.param("gazebo", {"robot": "vendor"}, "ur_description", marks=NO_GAZEBO),
    ],
)
def test_bad_arguments_and_what_is_missing_are_one_clear_line(
    file: str, given: dict[str, str], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert run(f"{file}.launch.py", (MUJOCO if file == "bringup" else {}) | given) != 0
    assert said in caplog.text


@pytest.mark.parametrize(
    ("program", "given", "said"),
    [
        ("gz", {}, "Gazebo has ended"),
        ("spawner", {}, "the robot's controllers did not start"),
        ("program", {}, "program-"),
        ("sim", MUJOCO, "sim-"),
        ("program", {"level": "none"}, "program-"),
        pytest.param("robot_state_publisher", {}, "robot_state_publisher has ended", marks=pytest.mark.full),
        pytest.param("parameter_bridge", {}, "the bridge to Gazebo has ended", marks=pytest.mark.full),
        pytest.param("create", {}, "Gazebo did not take the robot", marks=pytest.mark.full),
        pytest.param("gazebo", {}, "the Gazebo node has ended", marks=pytest.mark.full),
    ],
)
def test_whatever_ends_by_itself_ends_the_launch_with_its_reason(
    program: str, given: dict[str, str], said: str,
    installed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """The program of a level is told which process it was."""
    installed.with_suffix(".ends").write_text(program)
    installed.with_suffix(".wanted").write_text("99\n")
    recorded = {} if given.get("level") == "none" else {"record": str(tmp_path / "run")}
    assert run("bringup.launch.py", recorded | given) != 0
    assert said in caplog.text
    told = tmp_path / "run" / "ended.txt"
    assert told.exists() == (program != "program")
    assert program != "sim" or said in told.read_text()


def test_a_launch_that_fails_at_its_start_leaves_no_files(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("spca_robot.description.urdf.build_srdf", lambda *_: 1 / 0)
    for given in ({"rate": "fast"}, {}):
        assert run("gazebo.launch.py", given) != 0
        assert not list(tmp_path.glob("spca_gazebo_*"))
    assert "rate:=" in caplog.text and "division" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="util-linux is not installed")
def test_a_launch_that_is_killed_leaves_no_process(installed: Path, number: int) -> None:
    """As systemd and Docker end one: `ros2 launch` itself passes on no SIGTERM."""
    given = {**MUJOCO, "level": "none"}
    code = f"from {Path(__file__).stem} import run; run('bringup.launch.py', {given})"
    found = os.pathsep.join((str(Path(__file__).parent), *sys.path))
    command = [sys.executable, "-c", code]
    variables = {**os.environ, "PYTHONPATH": found}
    variables.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None)  # that is true of this process only
    with subprocess.Popen(command, env=variables) as launch:
        while len(started := [path for path in installed.iterdir() if path.suffix != ".new"]) < 4:
            assert launch.poll() is None
            time.sleep(0.05)
        launch.send_signal(number)
    left = [int(path.name.rpartition("+")[2]) for path in started]
    for _ in range(200):
        left = [pid for pid in left if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
        if not left:
            break
        time.sleep(0.05)
    assert not left


def test_a_second_graph_in_a_domain_is_refused_before_anything_starts(
    installed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with claim(int(os.environ["ROS_DOMAIN_ID"])):
        assert run("bringup.launch.py", {}) != 0
    assert f"process {os.getpid()} of " in caplog.text and "has a program" in caplog.text
    assert "ros2 action send_goal /supervisor/do" in caplog.text
    assert not calls(installed)


@pytest.mark.slow
@pytest.mark.ros
def test_a_robot_that_is_there_is_named_before_anything_starts(
    installed: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from rclpy.action import ActionServer
    from spca_interfaces.action import FollowTrajectory

    monkeypatch.setattr("spca.ros.graph._LOOK_S", 60.0)
    with claim(int(os.environ["ROS_DOMAIN_ID"]), "graph"), ros_session("driver") as node:
        ActionServer(node, FollowTrajectory, names.FOLLOW, lambda goal: FollowTrajectory.Result())
        assert run("bringup.launch.py", {}) != 0
    assert "there is a robot in the ROS domain" in caplog.text
    assert f": process {os.getpid()} of " in caplog.text  # who takes part in it
    assert not calls(installed)
