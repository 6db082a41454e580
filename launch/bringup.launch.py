"""The node graph and one level: `ros2 launch spca bringup.launch.py level:=stack_01`.

The launch ends when the level has its verdict, or with the reason as soon as a node ends by itself.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from spca_core.options import RunOptions
from spca_tabletop.presets import load_table
from spca_core.errors import InputError, SpcaError
from spca_ros import environment

HERE = Path(__file__).parent
GAZEBO_LAG = 0.4
"""Seconds that the arm may be behind its path over Gazebo."""
ARGUMENTS = (
    ("level", "stack_01", None, "name or path of a level"),
    ("sim", "gazebo", ["gazebo", "mujoco"], "the simulator"),
    ("arm", "moveit", ["moveit", "embedded"], "who plans motions"),
    ("proposer", "builtin", ["builtin", "openai"], "who drafts plans and skills"),
    ("preset", "nominal", ["nominal", "shuffled", "noisy", "hard"], "the table (sim:=mujoco)"),
    ("layout_seed", "0", None, "draws the table and the sensor's noise"),
    (
        "robot",
        "generated",
        ["generated", "vendor"],
        "the robot in Gazebo: self-contained, or the vendors' meshes",
    ),
    ("headless", "true", ["true", "false"], "no simulator window"),
    ("rviz", "false", ["true", "false"], "open RViz"),
    ("rate", "0.0", None, "real-time factor; 0: as fast as it can"),
    ("record", "", None, "the run's folder; empty: a new one in runs/"),
)


def generate_launch_description() -> LaunchDescription:
    """The arguments, and the actions that follow from them."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, choices=choices, description=text)
        for name, default, choices, text in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=_start)])


def _start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    chosen = {name: LaunchConfiguration(name).perform(context) for name, *_ in ARGUMENTS}
    _check_installed(chosen)
    environment.ensure()
    seed = int(chosen["layout_seed"] or 0)
    _, level = load_table(
        RunOptions(level=chosen["level"])
    )  # an unknown level is said here, before anything starts
    world = level.world
    # Gazebo's time passes while messages are on their way; the embedded simulator's waits for them.
    patience = {"tracking_lag": GAZEBO_LAG} if chosen["sim"] == "gazebo" else {}
    nodes = [
        _node("spca.ros.brain", world=world, proposer=chosen["proposer"]),
        _node("spca_tabletop.ros.executor_node", world=world, arm=chosen["arm"], **patience),
        _node("spca_referee.node", world=world),
    ]
    if chosen["sim"] == "mujoco":
        nodes.append(
            _node(
                "spca_sim.node",
                world=world,
                rate=float(chosen["rate"]),
                idle_rate=0.0,
                preset=chosen["preset"],
                seed=seed,
                view=chosen["headless"] == "false",
            )
        )
    client = ExecuteProcess(
        name="client",
        cmd=[
            *(sys.executable, "-m", "spca.ros.client", chosen["level"], "--seed", str(seed)),
            *("--preset", chosen["preset"], "--run-folder", chosen["record"]),
        ],
        output="screen",
    )
    includes = []
    if chosen["sim"] == "gazebo":
        drawn = {"world": world, "layout_seed": str(seed) if seed else ""}
        drawn |= {name: chosen[name] for name in ("robot", "headless", "rate")}
        includes.append(_include("gazebo.launch.py", drawn))
    if chosen["rviz"] == "true":
        publisher = "false" if chosen["sim"] == "gazebo" else "true"
        includes.append(_include("rviz.launch.py", {"world": world, "robot_state_publisher": publisher}))
    return [*includes, *nodes, *(_ends(n) for n in nodes), client, _ends(client, well=True)]


def _node(module: str, **parameters: object) -> ExecuteProcess:
    """One process of the graph, started as `bin/spca run` starts it, with typed parameters."""
    given = {"use_sim_time": True, **parameters}
    texts = [f"{name}:={str(v).lower() if isinstance(v, bool) else v}" for name, v in given.items()]
    flags = [part for text in texts for part in ("-p", text)]
    return ExecuteProcess(cmd=[sys.executable, "-m", module, "--ros-args", *flags], name=module, output="log")


def _ends(process: ExecuteProcess, well: bool = False) -> RegisterEventHandler:
    """Whatever ends first ends the launch: the client with the verdict (`well`: it may end), a node with its fault.

    The launch's exit status is 0 only if the client's is; an exception is the one way to another one.
    """

    def on_exit(event: object, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        if context.is_shutdown:
            return []
        name, status = getattr(event, "process_name", "a process"), getattr(event, "returncode", 1)
        reason = f"{name} ended with status {status}"
        if not (well and status == 0):
            raise SpcaError(reason)
        return [LogInfo(msg=reason), EmitEvent(event=Shutdown(reason=reason))]

    return RegisterEventHandler(OnProcessExit(target_action=process, on_exit=on_exit))


def _check_installed(chosen: dict[str, str]) -> None:
    """Name at once what is missing; gazebo.launch.py does so for Gazebo."""
    if chosen["arm"] == "moveit" and importlib.util.find_spec("moveit") is None:
        raise InputError(
            "not installed: moveit_py", "arm:=moveit", "docs/full-stack.md says how, or use arm:=embedded"
        )
    if chosen["rviz"] == "true" and shutil.which("rviz2") is None:
        raise InputError(
            "not installed: rviz2", "rviz:=true", "docs/full-stack.md says how, or use rviz:=false"
        )


def _include(name: str, arguments: dict[str, str]) -> IncludeLaunchDescription:
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(HERE / name)), launch_arguments=arguments.items()
    )
