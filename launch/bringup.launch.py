"""A simulator and the program that thinks: `ros2 launch spca bringup.launch.py level:=stack_01`.

The launch ends when the level has its verdict, or with the reason as soon as a process ends by itself. With
level:=none no level is run: the program waits for goals (`ros2 action send_goal /supervisor/run_level`). With
robot:=none no simulator is started either: it acts on a robot whose driver runs elsewhere
(docs/real-robot.md).
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.events import Shutdown
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from spca.kits import checked_kit
from spca.ros.graph import ENDED, LOGS, robot_is_there, simulator
from spca.runs import Run
from spca_core.errors import InputError, SpcaError, did_you_mean
from spca_core.model import checked
from spca_core.options import THINKING, RunOptions, described, manifest
from spca_core.paths import share
from spca_core.run_folder import MANIFEST
from spca_core.validation import number
from spca_core.world import load_world
from spca_robot.description.moveit_config import PIPELINES
from spca_robot.description.names import SOURCES
from spca_ros import environment, names
from spca_ros.domain import claim, domain_in, ports
from spca_ros.node_process import CONFIG, Value
from spca_sim.gazebo.requirements import missing
from spca_tabletop.presets import load_table, world_named

HERE = Path(__file__).parent
ARGUMENTS = (
    ("level", "stack_01", None, "name or path of a level; none: the program waits for goals"),
    ("sim", "gazebo", ["gazebo", "mujoco"], "the simulator"),
    ("arm", "moveit", ["moveit", "embedded"], "who plans motions"),
    (
        "pipeline",
        "ompl",
        list(PIPELINES),
        "which of MoveIt's planning pipelines searches (arm:=moveit)",
    ),
    (
        "preset",
        "nominal",
        None,
        "the table: nominal, shuffled, noisy, hard, disturbed, disturbed-KIND; "
        "over Gazebo the layout only, not the noise, light, friction and disturbances",
    ),
    ("layout_seed", "0", None, "draws the table and the sensor's noise"),
    (
        "robot",
        "generated",
        None,
        "the world's own arm, self-contained (generated) or with the vendors' meshes (vendor); another one, "
        "as ur5e or panda (docs/arms.md); none: a real one, driven elsewhere",
    ),
    ("headless", "true", ["true", "false"], "no simulator window"),
    ("view", "none", ["none", "web"], "web: a page to watch and to speak to the robot on (level:=none)"),
    ("rviz", "false", ["true", "false"], "open RViz"),
    (
        "markers",
        "true",
        ["true", "false"],
        "markers, frames and the robot's description for RViz, Foxglove and your own nodes",
    ),
    ("rate", "0", None, "greatest real-time factor; 0: none"),
    ("record", "", None, "the run's folder; empty: a new one in runs/"),
    ("config", "", None, "a file of parameters on top of launch/config/nodes.yaml"),
    *((stage, "", None, f"node that takes the place of {stage}") for stage in ("sense", "planner", "coder")),
    ("secure", "", None, "an SROS2 keystore; only nodes with a key from it can communicate"),
)
OF_A_RUN = (*THINKING, "video")
"""Arguments that are options of a run, as `spca run` has them."""
_ANY_LEVEL = "stack_01"  # names the world, where no level is run


def generate_launch_description() -> LaunchDescription:
    """The arguments, and the actions that follow from them."""
    options = [(name, described(name)) for name in OF_A_RUN]
    arguments = [(name, _said(default), None, text) for name, (default, _, text) in options]
    declared = [
        DeclareLaunchArgument(name, default_value=default, choices=choices, description=text)
        for name, default, choices, text in (*ARGUMENTS, *arguments)
    ]
    steps = [OpaqueFunction(function=_end_with_launch), OpaqueFunction(function=_start)]
    return LaunchDescription([*declared, *steps])


def _start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    chosen = {name: LaunchConfiguration(name).perform(context) for name in _names(context.argv)}
    real = chosen["robot"] == "none"
    source = chosen["robot"] if chosen["robot"] in SOURCES else "generated"
    waits = real or chosen["level"] == "none"
    options = _options(chosen)
    checked_kit(options)  # an unknown level is reported here, before anything starts
    level = load_table(options)[1]
    _check(chosen, real)
    environment.ensure()

    files = [CONFIG / "nodes.yaml"]
    if chosen["sim"] == "gazebo" and not real:
        files.append(CONFIG / "gazebo.yaml")
    if chosen["config"]:
        files.append(Path(chosen["config"]).resolve())
    world = world_named(options, level)
    elsewhere = {stage: chosen[stage] for stage in (names.SENSE, names.PLANNER, names.CODER)}
    thinking: dict[str, Mapping[str, Value]] = {
        names.SUPERVISOR: {
            **{name: getattr(options, name) for name in THINKING},
            "view": chosen["view"],
            **elsewhere,
        },
        names.SENSE: {"world": world},
        names.EXECUTOR: {
            "arm": chosen["arm"],
            "driver": "ros2_control" if real else "spca",
            "robot": source,
            "pipeline": chosen["pipeline"],
        },
    }
    simulated = chosen["sim"] == "mujoco" and not real
    nodes: list[Node] = []
    if simulated:
        nodes.append(_node("spca_sim", "sim", files, {names.SIM: {"world": world, **simulator(options)}}))

    includes: list[LaunchDescriptionEntity] = []
    if chosen["sim"] == "gazebo" and not real:
        drawn = {"world": world, "layout_seed": str(options.seed) if options.seed else ""}
        # All that both files declare: an included file sees this one's values, also the empty ones, not its
        # own defaults.
        drawn |= {"robot": source, "headless": chosen["headless"], "rate": chosen["rate"]}
        drawn["watched"] = "" if waits else ",".join(level.watched(load_world(world)))
        includes.append(_include("gazebo.launch.py", drawn))
    if "true" in (chosen["rviz"], chosen["markers"]):
        # Gazebo's launch file starts one, and a real robot's driver brings its own.
        publisher = "true" if simulated and share("robot_state_publisher") else "false"
        shown = {"world": world, "robot_state_publisher": publisher, "rviz": chosen["rviz"]}
        includes.append(_include("rviz.launch.py", shown))
        if simulated and publisher == "false":
            includes.append(
                LogInfo(msg="no /tf and /robot_description: robot_state_publisher is not installed")
            )
    keys = environment.secured(Path(chosen["secure"])) if chosen["secure"] else {}
    secured = [SetEnvironmentVariable(name, value) for name, value in keys.items()]
    held = claim(domain_in())
    freed = RegisterEventHandler(OnShutdown(on_shutdown=lambda event, context: held.close()))
    if not real and robot_is_there():
        what = f"there is a robot in the ROS domain {domain_in()} already{_whose()}"
        hint = "`spca run --ros` uses it; or end it, or take another domain: export ROS_DOMAIN_ID=…"
        raise InputError(what, where="ROS_DOMAIN_ID", hint=hint)
    if waits:
        # On the screen are what can be asked for, and what becomes of it.
        nodes.append(_node(*("spca", "program", files, thinking), sim_time=not real, output="screen"))
        return [freed, *secured, *includes, *nodes, *(_ends(n) for n in nodes)]
    run = Run.new(options, Path(chosen["record"]) if chosen["record"] else None, elsewhere=True)
    options, folder = run.options, run.files
    folder.write(MANIFEST, manifest(options))
    logs = SetEnvironmentVariable("ROS_LOG_DIR", str(folder.path.absolute() / LOGS))
    program = _node(
        *("spca", "program", files, thinking),
        arguments=[str(folder.path.absolute())],
        output="screen",
        # When it has been interrupted, it still writes down how far it was, and says how to go on.
        sigterm_timeout="60",
        sigkill_timeout="5",
    )
    # The newest handler is asked first: the file is there before the others end the launch.
    watches = [*map(_ends, nodes), _ends(program, well=True), _tells(folder.path / ENDED, program)]
    return [freed, logs, *secured, *includes, *nodes, program, *watches]


def _end_with_launch(context: LaunchContext) -> None:
    """Have the kernel end what is started when `ros2 launch` ends, as by SIGTERM, and leaves it behind.

    Whoever has a prefix of his own, such as a debugger, keeps it.
    """
    if shutil.which("setpriv"):
        context.launch_configurations.setdefault("launch-prefix", "setpriv --pdeathsig TERM")


def _whose() -> str:
    """Return who takes part in the domain on this machine, as far as this user may see."""
    bound = {s.pid for s in psutil.net_connections("udp") if s.laddr and s.laddr.port in ports(domain_in())}
    # (one that ends just now is passed over)
    there = [one.info for one in psutil.process_iter(["pid", "username", "name"]) if one.pid in bound]
    named = [f"process {one['pid']} of {one['username']} ({one['name']})" for one in there]
    return f": {', '.join(named)}" if named else ""


def _options(chosen: Mapping[str, str]) -> RunOptions:
    """Return the options of the run that the arguments ask for."""
    of_the_world = chosen["robot"] == "none" or chosen["robot"] in SOURCES
    return checked(
        RunOptions,
        level=_ANY_LEVEL if chosen["level"] == "none" else chosen["level"],
        preset=chosen["preset"],
        robot="" if of_the_world else chosen["robot"],
        seed=number(chosen["layout_seed"] or "0", int, "layout_seed:="),
        rate=number(chosen["rate"], float, "rate:=") or None,
        view=chosen["headless"] == "false",
        **{name: chosen[name] for name in OF_A_RUN},
    )


def _node(
    package: str,
    executable: str,
    files: list[Path],
    values: Mapping[str, Mapping[str, Value]],
    sim_time: bool = True,
    **more: Any,
) -> Node:
    """One process with its nodes. What is given here for a node wins over the files."""
    given = [part for file in files for part in ("--params-file", str(file))]
    for node, own in values.items():
        for name, value in {"use_sim_time": sim_time, **own}.items():
            given += ["-p", f"{node}:{name}:={json.dumps(value)}"]
    return Node(
        package=package,
        executable=executable,
        exec_name=executable,  # (else its name would be the prefix's)
        ros_arguments=given,  # (launch_ros puts `parameters=` behind these, and the last one wins)
        **{"output": "log", **more},
    )


def _said(value: object) -> str:
    """Return a value as somebody would give it to an argument."""
    return value if isinstance(value, str) else json.dumps(value)


def _ends(process: Node, well: bool = False) -> RegisterEventHandler:
    """Whatever ends first ends the launch: the program with the verdict (`well`), a node with its fault.

    With `well` it may end. The launch's exit status is 0 only if the program's is; an exception is the one
    way to another one.
    """

    def on_exit(event: ProcessExited, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if context.is_shutdown:
            return []
        reason, status = _ended(event)
        if not (well and status == 0):
            raise SpcaError(reason)
        return [LogInfo(msg=reason), EmitEvent(event=Shutdown(reason=reason))]

    return RegisterEventHandler(OnProcessExit(target_action=process, on_exit=on_exit))


def _tells(file: Path, program: Node) -> RegisterEventHandler:
    """Say in a file for the program which process failed first, Gazebo and its own among them.

    It would only hear that nothing comes any more.
    """

    def on_exit(event: ProcessExited, context: LaunchContext) -> None:
        reason, status = _ended(event)
        if status != 0 and event.action is not program and not context.is_shutdown and not file.exists():
            file.write_text(f"{reason}\n")

    return RegisterEventHandler(OnProcessExit(on_exit=on_exit))


def _ended(event: ProcessExited) -> tuple[str, int]:
    return f"{event.process_name} ended with status {event.returncode}", event.returncode


def _names(given: Sequence[str]) -> Sequence[str]:
    """Return the names of all arguments. Raises InputError where one that is `given` is misspelt.

    Another one may be an argument of a file that includes this one.
    """
    known = (*(name for name, *_ in ARGUMENTS), *OF_A_RUN)
    for name in (text.partition(":=")[0] for text in given if ":=" in text):
        part_of = [f"did you mean '{one}'?" for one in known if name in one.split("_")]
        meant = part_of[0] if part_of else did_you_mean(name, known)
        if name not in known and meant:
            raise InputError(f"no argument '{name}'", where=f"{name}:=", hint=meant)
        if name not in known:
            get_logger("launch").warning(f"no argument '{name}' of this file: {name}:= changes nothing here")
    return known


def _check(chosen: Mapping[str, str], real: bool) -> None:
    """Name at once what is missing, or does not go together."""
    if chosen["view"] == "web" and not real and chosen["level"] != "none":
        raise InputError("the page takes the task", where="view:=web", hint="level:=none, and say it there")
    docs = "docs/full-stack.md says how"
    if chosen["sim"] == "gazebo" and not real and (lacking := missing(chosen["robot"])):
        raise InputError(f"not installed: {', '.join(lacking)}", "sim:=gazebo", docs)
    if chosen["arm"] == "moveit" and importlib.util.find_spec("moveit") is None:
        raise InputError("not installed: moveit_py", "arm:=moveit", f"{docs}, or use arm:=embedded")
    if chosen["rviz"] == "true" and shutil.which("rviz2") is None:
        raise InputError("not installed: rviz2", "rviz:=true", f"{docs}, or use rviz:=false")
    for package in ("spca", "spca_sim"):
        if share(package) is None:
            raise InputError(
                f"the ROS package '{package}' is not found",
                "AMENT_PREFIX_PATH",
                "build the workspace (cd ros2_ws && colcon build) and source install/setup.bash",
            )


def _include(name: str, arguments: dict[str, str]) -> IncludeLaunchDescription:
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(HERE / name)), launch_arguments=arguments.items()
    )
