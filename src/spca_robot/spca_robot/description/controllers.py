"""ros2_control: the controllers (`files/controllers.yaml.j2`), and its block in both robot descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from spca_core.world import World
from spca_robot.description.names import GripperNames
from spca_robot.description.xml import Element, add, filled

# Hz: once in two physics steps. gz_ros2_control makes up a mimic joint's error with the speed error ·
# UPDATE_RATE, a half of it a step. At one step's rate fingers swing about what they hold (decision 11).
UPDATE_RATE = 200

PRESS_GAIN = 10.0
"""Speed (1/s) at which a finger that is held back wants to go on, per rad that it is short of its goal.

Gazebo's motor gives all its force however small that speed is, but only while the contact is there: after a
step without it, the finger must be back in the next few (decision 11).
"""

# Velocity of a joint in Gazebo = gain · error · update rate (200 Hz): the joint trails its command by 10 ms.
POSITION_GAIN = 0.5


def controllers(gripper: GripperNames, joints: Sequence[str]) -> str:
    """Return the parameters of the controller manager and controllers, as YAML; `joints` are the arm's."""
    return filled(
        "controllers.yaml",
        gripper=gripper,
        joints=list(joints),
        update_rate=UPDATE_RATE,
        press_gain=PRESS_GAIN,
    )


def add_ros2_control(robot: Element, world: World, gripper: GripperNames) -> None:
    """Add one hardware component with the arm's commanded joints and one commanded gripper joint.

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
    """Add the plugin that runs the controller manager in Gazebo, with the controllers of a YAML file."""
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
