"""Gazebo Harmonic with the world, the robot, its controllers and the bridge: what `sim:=gazebo` stands for.

Included by bringup.launch.py; also of use alone: `ros2 launch spca gazebo.launch.py headless:=false`.

All processes are started at once, and each waits for what it needs: the robot is spawned when Gazebo answers,
controllers start when the robot is in the world, and the project's node begins with the first joint state.
What fails ends the launch with its reason; nothing is left running.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit, OnShutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from spca_core.errors import InputError, SpcaError
from spca_core.layout import nominal_layout, random_layout
from spca_core.validation import number
from spca_core.world import load_world
from spca_robot.description.names import ARM_CONTROLLER, GRIPPER_CONTROLLER, STATE_BROADCASTER
from spca_sim.gazebo.requirements import missing
from spca_sim.gazebo.reset import control_service, watched_models
from spca_sim.gazebo.write import write_all

SPAWN_TIMEOUT_S = "60"
HEARTBEAT_MS = 100
"""Milliseconds between two looks of the bridge at whether anybody listens to its lazy topics."""


def generate_launch_description() -> LaunchDescription:
    """The arguments, and the actions that follow from them."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "world", default_value="tabletop", description="a world in worlds/, or a path"
            ),
            DeclareLaunchArgument(
                "layout_seed", default_value="", description="seed of a random table; empty: the nominal one"
            ),
            DeclareLaunchArgument(
                "robot",
                default_value="generated",
                choices=["generated", "vendor"],
                description="the self-contained description, or ur_description with robotiq_description",
            ),
            DeclareLaunchArgument(
                "headless", default_value="true", choices=["true", "false"], description="no Gazebo window"
            ),
            DeclareLaunchArgument(
                "rate", default_value="0", description="greatest real-time factor; 0: none"
            ),
            DeclareLaunchArgument(
                "watched",
                default_value="",
                description="objects whose contacts are reported, with commas; empty: all",
            ),
            OpaqueFunction(function=_start),
        ]
    )


def _start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    def argument(name: str) -> str:
        return LaunchConfiguration(name).perform(context)

    if lacking := missing(argument("robot")):
        raise InputError(f"not installed: {', '.join(lacking)}", "sim:=gazebo", "docs/full-stack.md says how")
    world = load_world(argument("world"))
    seed = argument("layout_seed")
    layout = random_layout(world, number(seed, int, "layout_seed:=")) if seed else nominal_layout(world)
    rate = number(argument("rate"), float, "rate:=")
    watched = watched_models(argument("watched"), world)
    folder = Path(tempfile.mkdtemp(prefix="spca_gazebo_"))
    try:
        files = write_all(world, folder, layout, argument("robot"), rate, watched)
    except BaseException:
        shutil.rmtree(folder)
        raise

    sim_time = {"use_sim_time": True}
    server = ExecuteProcess(
        cmd=["gz", "sim", "-s", "-r", "--headless-rendering", str(files.world)],
        name="gazebo",
        output="screen",
        additional_env={
            "GZ_SIM_SYSTEM_PLUGIN_PATH": _plugin_path(),
            "GZ_SIM_RESOURCE_PATH": _resource_path(),
        },
        # Without a GPU it may need long to end its drawing, and a second signal meanwhile makes it hang: it
        # has nothing to save, and is killed.
        sigterm_timeout="2",
        sigkill_timeout="0.5",
        on_exit=_must_not_end("Gazebo has ended"),
    )
    state_publisher = Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        exec_name="robot_state_publisher",
        parameters=[{"robot_description": files.robot.urdf.read_text(), **sim_time}],
        on_exit=_must_not_end("robot_state_publisher has ended"),
    )
    bridge = Node(
        package="ros_gz_bridge",
        executable="parameter_bridge",
        exec_name="parameter_bridge",
        name="gazebo_bridge",
        arguments=[f"{control_service(world)}@ros_gz_interfaces/srv/ControlWorld"],
        parameters=[{"config_file": str(files.bridge), "subscription_heartbeat": HEARTBEAT_MS, **sim_time}],
        on_exit=_must_not_end("the bridge to Gazebo has ended"),
    )
    spawn = Node(
        package="ros_gz_sim",
        executable="create",
        exec_name="create",
        name="spawn_robot",
        arguments=["-world", world.name, "-file", str(files.robot.urdf), "-name", world.robot.model],
        output="screen",
        sigterm_timeout="1",  # while it waits for Gazebo, it hears no signal for 5 s
        sigkill_timeout="0.5",
    )
    controllers = Node(
        package="controller_manager",
        executable="spawner",
        exec_name="spawner",
        name="spawn_controllers",
        arguments=[
            *(ARM_CONTROLLER, GRIPPER_CONTROLLER, STATE_BROADCASTER),  # joint states say that the others run
            *("--param-file", str(files.robot.controllers)),
            *("--controller-manager-timeout", SPAWN_TIMEOUT_S),
        ],
        output="screen",
        sigterm_timeout="2",  # while it waits, it hears no SIGINT
    )
    node = Node(
        package="spca_sim",
        executable="gazebo",
        exec_name="gazebo",
        name="sim",
        parameters=[
            {
                "world": argument("world"),
                "robot": argument("robot"),
                "watched": argument("watched"),
                "urdf": str(files.robot.urdf),
                **sim_time,
            }
        ],
        output="screen",
        on_exit=_must_not_end("the Gazebo node has ended"),
    )
    actions: list[LaunchDescriptionEntity] = [
        # A partition of its own: no other Gazebo on this machine or network takes part.
        SetEnvironmentVariable("GZ_PARTITION", f"spca_{os.getpid()}"),
        SetEnvironmentVariable("GZ_IP", "127.0.0.1"),
        server,
        state_publisher,
        bridge,
        spawn,
        _must_succeed(spawn, "Gazebo did not take the robot"),
        controllers,
        _must_succeed(controllers, "the robot's controllers did not start"),
        node,
        RegisterEventHandler(
            OnShutdown(on_shutdown=lambda event, context: shutil.rmtree(folder, ignore_errors=True))
        ),
    ]
    if argument("headless") == "false":
        actions.append(ExecuteProcess(cmd=["gz", "sim", "-g"], name="gazebo_window"))
    return actions


def _must_succeed(action: ExecuteProcess, complaint: str) -> RegisterEventHandler:
    """Give up with a complaint when a process has not ended well."""

    def on_exit(event: object, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        failed = getattr(event, "returncode", 1) != 0 and not context.is_shutdown
        return [_give_up(complaint)] if failed else []

    return RegisterEventHandler(OnProcessExit(target_action=action, on_exit=on_exit))


def _must_not_end(complaint: str) -> Callable[[object, LaunchContext], list[LaunchDescriptionEntity]]:
    """Give up when a process ends before the launch does."""

    def on_exit(event: object, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        return [] if context.is_shutdown else [_give_up(complaint)]

    return on_exit


def _give_up(reason: str) -> OpaqueFunction:
    """End the launch with a reason and an exit status other than 0: only an exception gives both."""

    def fail(context: LaunchContext) -> None:
        raise SpcaError(reason)

    return OpaqueFunction(function=fail)


def _plugin_path() -> str:
    """Where Gazebo finds gz_ros2_control: ROS puts its libraries on the loader's path."""
    parts = [os.environ.get("GZ_SIM_SYSTEM_PLUGIN_PATH", ""), os.environ.get("LD_LIBRARY_PATH", "")]
    return os.pathsep.join(p for p in parts if p)


def _resource_path() -> str:
    """Where Gazebo finds what is named by `package://`, such as the vendors' meshes."""
    shares = [str(Path(p) / "share") for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    return os.pathsep.join(p for p in (os.environ.get("GZ_SIM_RESOURCE_PATH", ""), *shares) if p)
