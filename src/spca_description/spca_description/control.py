"""The `<ros2_control>` block and Gazebo's plugin that runs it; the same for both robot descriptions."""

from __future__ import annotations

from spca_core.world import World
from spca_description.names import GripperNames
from spca_description.xml import Element, add

# Velocity of a joint in Gazebo = gain · error · update rate (250 Hz): the joint trails its command by 10 ms.
POSITION_GAIN = 0.4


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
