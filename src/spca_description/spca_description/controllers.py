"""ros2_control's controllers, and the `<ros2_control>` block of both robot descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spca_core.world import World
from spca_description.names import (
    ARM_CONTROLLER,
    GRIPPER_CONTROLLER,
    STATE_BROADCASTER,
    GripperNames,
)
from spca_description.xml import Element, add

# Hz: once in two physics steps. gz_ros2_control makes up a mimic joint's error with the speed error ·
# UPDATE_RATE: a half of it a step. At one step's rate it would be all of it, and the fingers would swing
# about what they hold.
UPDATE_RATE = 250

# The driver watches the path itself (spca_motion); the controller only stops what has gone badly wrong.
# Radians.
_PATH_TOLERANCE, _GOAL_TOLERANCE = 0.3, 0.05

PRESS_GAIN = 10.0
"""1/s: speed with which a finger that is held back wants to go on, per rad that it is short of its goal.

Gazebo's motor gives all its force however small that speed is, but only while the contact is there: after a
step without it, the finger must be back in the next few (decision 11).
"""

# Velocity of a joint in Gazebo = gain · error · update rate (250 Hz): the joint trails its command by 10 ms.
POSITION_GAIN = 0.4


def controllers(gripper: GripperNames, joints: Sequence[str]) -> dict[str, Any]:
    """Parameters of the controller manager and of each controller; `joints` are the arm's."""
    constraints: dict[str, Any] = {"goal_time": 1.0, "stopped_velocity_tolerance": 0.05}
    for joint in joints:
        constraints[joint] = {"trajectory": _PATH_TOLERANCE, "goal": _GOAL_TOLERANCE}
    return {
        "controller_manager": _parameters(
            update_rate=UPDATE_RATE,
            **{
                STATE_BROADCASTER: {"type": "joint_state_broadcaster/JointStateBroadcaster"},
                ARM_CONTROLLER: {"type": "joint_trajectory_controller/JointTrajectoryController"},
                GRIPPER_CONTROLLER: {"type": "joint_trajectory_controller/JointTrajectoryController"},
            },
        ),
        # It has its own topic, because /joint_states is published by the node that also knows the grip force.
        # It comes as often as the referee's samples.
        STATE_BROADCASTER: _parameters(use_local_topics=True, update_rate=50),
        ARM_CONTROLLER: _parameters(
            joints=list(joints),
            command_interfaces=["position"],
            state_interfaces=["position", "velocity"],
            action_monitor_rate=50.0,
            allow_partial_joints_goal=False,
            constraints=constraints,
        ),
        # There are no tolerances, so that a finger blocked by an object keeps pressing, in every cycle of the
        # controller and whatever the project's nodes are doing.
        GRIPPER_CONTROLLER: _parameters(
            joints=[gripper.commanded],
            command_interfaces=["velocity"],
            state_interfaces=["position", "velocity"],
            gains={
                gripper.commanded: {
                    "p": PRESS_GAIN,
                    "i": 0.0,
                    "d": 0.0,
                    "i_clamp": 0.0,
                    "ff_velocity_scale": 1.0,
                }
            },
        ),
    }


def _parameters(**values: Any) -> dict[str, Any]:
    return {"ros__parameters": {"use_sim_time": True, **values}}


def add_ros2_control(robot: Element, world: World, gripper: GripperNames) -> None:
    """One hardware component with the arm's commanded joints and one commanded gripper joint.

    The gripper's follower joints take no commands.

    Since ros2_control 4.13 a mimic joint must not have a command interface; `gz_ros2_control` moves it by
    itself.
    """
    block = add(robot, "ros2_control", name="GazeboSimSystem", type="system")
    hardware = add(block, "hardware")
    add(hardware, "plugin", "gz_ros2_control/GazeboSimSystem")
    for name, initial in zip(world.robot.arm.joint_names, world.robot.home, strict=True):
        _add_joint(block, name, commanded="position", initial=initial)
    for name in gripper.joints:
        _add_joint(block, name, commanded="velocity" if name == gripper.commanded else "", initial=0.0)


def add_control_plugin(robot: Element, controllers_file: str) -> None:
    """Run the controller manager inside Gazebo, with the controllers of a YAML file."""
    gazebo = add(robot, "gazebo")
    plugin = add(
        gazebo,
        "plugin",
        filename="gz_ros2_control-system",
        name="gz_ros2_control::GazeboSimROS2ControlPlugin",
    )
    add(plugin, "parameters", controllers_file)
    add(plugin, "hold_joints", True)
    add(plugin, "position_proportional_gain", POSITION_GAIN)


def _add_joint(block: Element, name: str, commanded: str, initial: float) -> None:
    joint = add(block, "joint", name=name)
    if commanded:
        add(joint, "command_interface", name=commanded)
    position = add(joint, "state_interface", name="position")
    add(position, "param", initial, name="initial_value")
    add(joint, "state_interface", name="velocity")
