"""MoveIt's parameters for `moveit_py` (`files/moveit.yaml.j2`), and the SRDF (`files/cobot.srdf.j2`)."""

from __future__ import annotations

from typing import Any

import yaml

from spca_core.world import World
from spca_robot.description.names import GripperNames
from spca_robot.description.self_contacts import harmless_pairs
from spca_robot.description.templates import filled
from spca_robot.gripper_2f85 import CLOSED_ANGLE

VELOCITY_SCALING = 0.3
"""Default share of the joints' speed limits that MoveIt uses."""
PIPELINES = {
    "ompl": "moveit_planners_ompl",
    "pilz_industrial_motion_planner": "pilz_industrial_motion_planner",
    "chomp": "moveit_planners_chomp",
    "stomp": "moveit_planners_stomp",
}
"""Planning pipelines by name, each with the ROS package that brings it."""
PLANNER_IDS = {"ompl": "RRTConnect", "pilz_industrial_motion_planner": "PTP", "chomp": "", "stomp": ""}
"""Planner id of each pipeline. Pilz's PTP goes straight in joint space, or fails: it does not search."""
_PLUGINS = {
    "ompl": "ompl_interface/OMPLPlanner",
    "pilz_industrial_motion_planner": "pilz_industrial_motion_planner/CommandPlanner",
    "chomp": "chomp_interface/CHOMPPlanner",
    "stomp": "stomp_moveit/StompPlanner",
}


def moveit_config(
    urdf: str, world: World, gripper: GripperNames, use_sim_time: bool = True, pipeline: str = "ompl"
) -> dict[str, Any]:
    """Return all parameters of the `moveit_py` node, with one of `PIPELINES` loaded.

    `use_sim_time` must be inside: remappings do not reach the node. With it, MoveIt 2.12 aborts its process
    in about one start of ten: its TrajectoryExecutionManager refuses parameters that its clock declares in
    another thread.
    """
    text = filled(
        "moveit.yaml", arm=world.robot.arm, scaling=VELOCITY_SCALING,
        pipeline=pipeline, planner_id=PLANNER_IDS[pipeline], plugin=_PLUGINS[pipeline],
    )  # fmt: skip
    return {
        "use_sim_time": use_sim_time,
        "robot_description": urdf,
        "robot_description_semantic": build_srdf(urdf, world, gripper),
        **yaml.safe_load(text),
    }


def build_srdf(urdf: str, world: World, gripper: GripperNames) -> str:
    """Return the SRDF for a URDF. Named states of the arm are the world description's configurations."""
    harmless = sorted(harmless_pairs(urdf, gripper.root))
    return filled(
        "cobot.srdf", robot=world.robot, gripper=gripper, closed=round(CLOSED_ANGLE, 1), harmless=harmless
    )
