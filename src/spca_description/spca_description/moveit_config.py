"""MoveIt's configuration for `moveit_py` (MoveItCpp), as one dictionary of parameters."""

from __future__ import annotations

from typing import Any

from spca_core.world import World
from spca_description.names import ARM_CONTROLLER, ARM_GROUP, ARM_JOINTS, GripperNames
from spca_description.srdf import build_srdf
from spca_robot import ur5

VELOCITY_SCALING = 0.3
"""Share of the joints' speed limits that MoveIt uses unless told otherwise."""
OMPL = "ompl"
PLANNING_TIME = 5.0  # s of wall time

_REQUEST_ADAPTERS = [
    "default_planning_request_adapters/ResolveConstraintFrames",
    "default_planning_request_adapters/ValidateWorkspaceBounds",
    "default_planning_request_adapters/CheckStartStateBounds",
    "default_planning_request_adapters/CheckStartStateCollision",
]
_VALIDATE = "default_planning_response_adapters/ValidateSolution"
# Edges are checked about every 0.02 rad: a coarser check lets the fingertips jump over thin things.
_LONGEST_SEGMENT = 0.0003  # of the joint space's extent (the sum of the ranges: about 69 rad)


def moveit_config(
    urdf: str, world: World, gripper: GripperNames, use_sim_time: bool = True
) -> dict[str, Any]:
    """All parameters of the `moveit_py` node; `use_sim_time` must be inside, remappings do not reach it."""
    return {
        "use_sim_time": use_sim_time,
        "robot_description": urdf,
        "robot_description_semantic": build_srdf(urdf, world, gripper),
        "robot_description_kinematics": kinematics(),
        "robot_description_planning": joint_limits(),
        "planning_scene_monitor_options": {
            "name": "planning_scene_monitor",
            "robot_description": "robot_description",
            "joint_state_topic": "/joint_states",
            "attached_collision_object_topic": "/moveit_cpp/planning_scene_monitor",
            "publish_planning_scene_topic": "/moveit_cpp/publish_planning_scene",
            "monitored_planning_scene_topic": "/moveit_cpp/monitored_planning_scene",
            "wait_for_initial_state_timeout": 10.0,
        },
        "planning_pipelines": {"pipeline_names": [OMPL]},
        "plan_request_params": {
            "planning_attempts": 1,
            "planning_pipeline": OMPL,
            "planner_id": "RRTConnect",
            "planning_time": PLANNING_TIME,
            "max_velocity_scaling_factor": VELOCITY_SCALING,
            "max_acceleration_scaling_factor": VELOCITY_SCALING,
        },
        OMPL: {
            "planning_plugins": ["ompl_interface/OMPLPlanner"],
            "request_adapters": _REQUEST_ADAPTERS,
            "response_adapters": [_VALIDATE],  # spca times its paths itself
            "planner_configs": {"RRTConnect": {"type": "geometric::RRTConnect", "range": 0.0}},
            ARM_GROUP: {
                "planner_configs": ["RRTConnect"],
                "longest_valid_segment_fraction": _LONGEST_SEGMENT,
            },
        },
        **controllers_of_moveit(),
    }


def kinematics() -> dict[str, Any]:
    """MoveIt's solver, for RViz; goals and straight lines are solved in closed form before MoveIt sees them."""
    return {
        ARM_GROUP: {
            "kinematics_solver": "kdl_kinematics_plugin/KDLKinematicsPlugin",
            "kinematics_solver_search_resolution": 0.005,
            "kinematics_solver_timeout": 0.05,
        }
    }


def joint_limits() -> dict[str, Any]:
    """Speed and acceleration limits of the arm's joints (rad/s, rad/s²), and the default scaling."""
    limits = {
        joint: {
            "has_velocity_limits": True,
            "max_velocity": float(ur5.VELOCITY_LIMITS[i]),
            "has_acceleration_limits": True,
            "max_acceleration": float(ur5.ACCELERATION_LIMITS[i]),
        }
        for i, joint in enumerate(ARM_JOINTS)
    }
    return {
        "default_velocity_scaling_factor": VELOCITY_SCALING,
        "default_acceleration_scaling_factor": VELOCITY_SCALING,
        "joint_limits": limits,
    }


def controllers_of_moveit() -> dict[str, Any]:
    """Which controller follows the arm's trajectories (used by RViz and by hand; spca executes by itself)."""
    return {
        "moveit_controller_manager": "moveit_simple_controller_manager/MoveItSimpleControllerManager",
        "moveit_simple_controller_manager": {
            "controller_names": [ARM_CONTROLLER],
            ARM_CONTROLLER: {
                "type": "FollowJointTrajectory",
                "action_ns": "follow_joint_trajectory",
                "default": True,
                "joints": list(ARM_JOINTS),
            },
        },
        "moveit_manage_controllers": False,
        "trajectory_execution": {
            "allowed_start_tolerance": 0.02,
            "allowed_execution_duration_scaling": 1.5,
            "allowed_goal_duration_margin": 1.0,
        },
    }
