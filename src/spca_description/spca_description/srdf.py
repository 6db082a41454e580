"""MoveIt's semantic description: groups, named states, and which links may touch."""

from __future__ import annotations

from spca_core.world import World
from spca_description.names import ARM_GROUP, GRIPPER_GROUP, GripperNames
from spca_description.self_contacts import harmless_pairs
from spca_description.xml import Element, add, document
from spca_robot.gripper_2f85 import CLOSED_ANGLE


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
