"""Markers, frames and the robot's description, and RViz with the project's view of them.

Included by bringup.launch.py; also for a graph that is up already. Foxglove shows the same topics.
"""

from __future__ import annotations

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from spca_core.paths import data
from spca_core.world import load_world
from spca_robot.description.moveit_config import build_srdf
from spca_robot.description.names import GENERATED
from spca_robot.description.urdf import build_urdf


def generate_launch_description() -> LaunchDescription:
    """The arguments, and the actions that follow from them."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "world", default_value="tabletop", description="a world in worlds/, or a path"
            ),
            DeclareLaunchArgument(
                "rviz",
                default_value="true",
                choices=["true", "false"],
                description="open RViz; else only its markers",
            ),
            DeclareLaunchArgument(
                "robot_state_publisher",
                default_value="true",
                choices=["true", "false"],
                description="frames and robot model; false where something else publishes them (sim:=gazebo)",
            ),
            OpaqueFunction(function=_start),
        ]
    )


def _start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    def argument(name: str) -> str:
        return LaunchConfiguration(name).perform(context)

    sim_time = {"use_sim_time": True}
    world = load_world(argument("world"))
    actions: list[LaunchDescriptionEntity] = [
        Node(
            package="spca_tabletop",
            executable="display",
            exec_name="display",
            name="display",
            parameters=[{"world": argument("world")}],
        )
    ]
    if "true" not in (argument("robot_state_publisher"), argument("rviz")):
        return actions
    robot = {"robot_description": build_urdf(world), **sim_time}
    if argument("robot_state_publisher") == "true":
        actions.append(
            Node(
                package="robot_state_publisher",
                executable="robot_state_publisher",
                exec_name="robot_state_publisher",
                parameters=[robot],
            )
        )
    if argument("rviz") == "true":
        view = str(data("launch", "spca") / "rviz" / "spca.rviz")
        semantics = build_srdf(robot["robot_description"], world, GENERATED)
        # The display of MoveIt's planning scene needs both descriptions as parameters.
        known = {**robot, "robot_description_semantic": semantics}
        actions.append(
            Node(
                package="rviz2",
                executable="rviz2",
                exec_name="rviz2",
                arguments=["-d", view],
                parameters=[known],
            )
        )
    return actions
