"""MoveIt's configuration for `moveit_py` (MoveItCpp): one dictionary of parameters, and the SRDF."""

from __future__ import annotations

from typing import Any

from spca_core.arms import ArmDescription
from spca_core.world import World
from spca_description.names import ARM_CONTROLLER, ARM_GROUP, GRIPPER_GROUP, GripperNames
from spca_description.self_contacts import harmless_pairs
from spca_description.xml import Element, add, document
from spca_robot.gripper_2f85 import CLOSED_ANGLE

VELOCITY_SCALING = 0.3
"""Default share of the joints' speed limits that MoveIt uses."""
PLANNING_TIME = 5.0  # s of wall time
PIPELINES = {
    "ompl": "moveit_planners_ompl",
    "pilz_industrial_motion_planner": "pilz_industrial_motion_planner",
    "chomp": "moveit_planners_chomp",
    "stomp": "moveit_planners_stomp",
}
"""Planning pipelines by name, each with the ROS package that brings it."""
PLANNER_IDS = {"ompl": "RRTConnect", "pilz_industrial_motion_planner": "PTP", "chomp": "", "stomp": ""}
"""The planner of each pipeline. Pilz's PTP goes straight in joint space, or fails: it does not search."""

_REQUEST_ADAPTERS = [
    "default_planning_request_adapters/ResolveConstraintFrames",
    "default_planning_request_adapters/ValidateWorkspaceBounds",
    "default_planning_request_adapters/CheckStartStateBounds",
    "default_planning_request_adapters/CheckStartStateCollision",
]
_VALIDATE = "default_planning_response_adapters/ValidateSolution"
_PLUGINS = {
    "ompl": "ompl_interface/OMPLPlanner",
    "pilz_industrial_motion_planner": "pilz_industrial_motion_planner/CommandPlanner",
    "chomp": "chomp_interface/CHOMPPlanner",
    "stomp": "stomp_moveit/StompPlanner",
}
# Edges are checked about every 0.02 rad: a coarser check lets the fingertips jump over thin things.
_LONGEST_SEGMENT = 0.0003  # of the joint space's extent (the sum of the ranges: about 69 rad)


def moveit_config(
    urdf: str, world: World, gripper: GripperNames, use_sim_time: bool = True, pipeline: str = "ompl"
) -> dict[str, Any]:
    """All parameters of the `moveit_py` node, with one of `PIPELINES` loaded.

    `use_sim_time` must be inside: remappings do not reach the node. With it, MoveIt 2.12 aborts its process
    in about one start of ten: its TrajectoryExecutionManager refuses parameters that its clock declares in
    another thread.
    """
    return {
        "use_sim_time": use_sim_time,
        "robot_description": urdf,
        "robot_description_semantic": build_srdf(urdf, world, gripper),
        "robot_description_kinematics": kinematics(),
        "robot_description_planning": joint_limits(world.robot.arm),
        "planning_scene_monitor_options": {
            "name": "planning_scene_monitor",
            "robot_description": "robot_description",
            "wait_for_initial_state_timeout": 0.0,  # else MoveItCpp fails where no joint states come
        },
        "planning_pipelines": {"pipeline_names": [pipeline]},
        "plan_request_params": {
            "planning_attempts": 1,
            "planning_pipeline": pipeline,
            "planner_id": PLANNER_IDS[pipeline],
            "planning_time": PLANNING_TIME,
            "max_velocity_scaling_factor": VELOCITY_SCALING,
            "max_acceleration_scaling_factor": VELOCITY_SCALING,
        },
        pipeline: {
            "planning_plugins": [_PLUGINS[pipeline]],
            "request_adapters": _REQUEST_ADAPTERS,
            "response_adapters": [_VALIDATE],  # spca times its paths itself
            **(_ompl() if pipeline == "ompl" else {}),
        },
        **controllers_of_moveit(world.robot.arm),
    }


def _ompl() -> dict[str, Any]:
    return {
        "planner_configs": {"RRTConnect": {"type": "geometric::RRTConnect", "range": 0.0}},
        ARM_GROUP: {
            "planner_configs": ["RRTConnect"],
            "longest_valid_segment_fraction": _LONGEST_SEGMENT,
            # The workspace is a constraint on the path: it is to be checked, not to be sampled from.
            "enforce_joint_model_state_space": True,
        },
    }


def kinematics() -> dict[str, Any]:
    """MoveIt's kinematics solver, used by RViz only.

    Goals and straight lines are solved in closed form before they reach MoveIt.
    """
    return {
        ARM_GROUP: {
            "kinematics_solver": "kdl_kinematics_plugin/KDLKinematicsPlugin",
            "kinematics_solver_search_resolution": 0.005,
            "kinematics_solver_timeout": 0.05,
        }
    }


def joint_limits(arm: ArmDescription) -> dict[str, Any]:
    """Speed and acceleration limits of the arm's joints (rad/s, rad/s²), and the default scaling."""
    limits = {
        own.name: {
            "has_velocity_limits": True,
            "max_velocity": own.velocity,
            "has_acceleration_limits": True,
            "max_acceleration": own.acceleration,
        }
        for own in arm.joints
    }
    return {
        "default_velocity_scaling_factor": VELOCITY_SCALING,
        "default_acceleration_scaling_factor": VELOCITY_SCALING,
        "joint_limits": limits,
        "cartesian_limits": {  # of the tool; pilz_industrial_motion_planner wants them even for joint motions
            "max_trans_vel": 0.5,
            "max_trans_acc": 2.0,
            "max_trans_dec": -2.0,
            "max_rot_vel": 1.5,
        },
    }


def controllers_of_moveit(arm: ArmDescription) -> dict[str, Any]:
    """The controller that executes the arm's trajectories, for RViz and manual use."""
    return {
        "moveit_controller_manager": "moveit_simple_controller_manager/MoveItSimpleControllerManager",
        "moveit_simple_controller_manager": {
            "controller_names": [ARM_CONTROLLER],
            ARM_CONTROLLER: {
                "type": "FollowJointTrajectory",
                "action_ns": "follow_joint_trajectory",
                "default": True,
                "joints": list(arm.joint_names),
            },
        },
        "moveit_manage_controllers": False,
        "trajectory_execution": {
            "allowed_start_tolerance": 0.02,
            "allowed_execution_duration_scaling": 1.5,
            "allowed_goal_duration_margin": 1.0,
        },
    }


def build_srdf(urdf: str, world: World, gripper: GripperNames) -> str:
    """The SRDF for a URDF. Named states of the arm are the configurations of the world description."""
    robot = Element("robot", name=world.robot.model)
    arm = add(robot, "group", name=ARM_GROUP)
    add(arm, "chain", base_link="base_link", tip_link="tool0")
    fingers = add(robot, "group", name=GRIPPER_GROUP)
    for joint in gripper.joints:
        add(fingers, "joint", name=joint)
    for name, configuration in (("home", world.robot.home), ("out_of_view", world.robot.out_of_view)):
        state = add(robot, "group_state", name=name, group=ARM_GROUP)
        for joint, value in zip(world.robot.arm.joint_names, configuration, strict=True):
            add(state, "joint", name=joint, value=value)
    for name, angle in (("open", 0.0), ("closed", round(CLOSED_ANGLE, 1))):
        state = add(robot, "group_state", name=name, group=GRIPPER_GROUP)
        add(state, "joint", name=gripper.commanded, value=angle)
    add(robot, "end_effector", name=GRIPPER_GROUP, parent_link="tool0", group=GRIPPER_GROUP)
    for joint in gripper.followers:
        add(robot, "passive_joint", name=joint)
    for a, b in sorted(harmless_pairs(urdf, gripper.root)):
        add(robot, "disable_collisions", link1=a, link2=b, reason="Adjacent")
    return document(robot, "Generated from the world description by spca_description; do not edit.")
