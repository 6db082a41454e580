"""Names of the gripper's links and joints in both robot descriptions, and Gazebo's of collisions."""

from __future__ import annotations

import re
from dataclasses import dataclass

ARM_GROUP = "manipulator"
ARM_CONTROLLER, GRIPPER_CONTROLLER = "joint_trajectory_controller", "gripper_controller"
STATE_BROADCASTER = "joint_state_broadcaster"
BASE_LINK = "base_link"
OPTICAL_FRAME = "camera_color_optical_frame"


@dataclass(frozen=True)
class GripperNames:
    """The gripper's root link, its commanded joint, and its mimic joints with their multipliers.

    The commanded joint is the left driver of the real linkage in both descriptions, 0 when fully open: the
    figures of `spca_robot.gripper_2f85` turn its angle into a gap.
    """

    root: str
    commanded: str
    followers: dict[str, float]
    pads: tuple[str, str]
    """Links that touch what is held."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of all joints, the commanded one first."""
        return (self.commanded, *self.followers)


GENERATED = GripperNames(
    root="gripper_base",
    commanded="robotiq_85_left_knuckle_joint",
    followers={
        "right_driver": 1.0,
        "left_inner": 1.0,
        "right_inner": 1.0,
        "left_tip": -1.0,
        "right_tip": -1.0,
    },
    pads=("left_tip_link", "right_tip_link"),
)
VENDOR = GripperNames(
    root="robotiq_85_base_link",
    commanded="robotiq_85_left_knuckle_joint",
    followers={
        "robotiq_85_right_knuckle_joint": -1.0,
        "robotiq_85_left_inner_knuckle_joint": 1.0,
        "robotiq_85_right_inner_knuckle_joint": -1.0,
        "robotiq_85_left_finger_tip_joint": -1.0,
        "robotiq_85_right_finger_tip_joint": 1.0,
    },
    pads=("robotiq_85_left_finger_tip_link", "robotiq_85_right_finger_tip_link"),
)
GRIPPERS = {"generated": GENERATED, "vendor": VENDOR}
"""Names by robot description: the self-contained one, and that of the vendors' packages."""
SOURCES = tuple(GRIPPERS)

CONTACT_TOPIC = "/spca/gazebo/contacts"
"""Topic on which all contact sensors publish, those of the robot and of the world."""


def camera_topic(at: str = "") -> str:
    """Return the topic of a camera in Gazebo, which appends `/image`, `/depth_image` and `/points` to it.

    `at` is empty for the one above the table, and `wrist_` for the one at the wrist.
    """
    return f"/spca/gazebo/{at}camera"


_MERGED = "_fixed_joint_lump__"


def collision_names(link: str, count: int = 1) -> tuple[str, ...]:
    """Return sdformat's names of the unnamed collisions of a URDF's link."""
    return tuple(f"{link}_collision" + (f"_{i}" if i else "") for i in range(count))


def link_of_collision(collision: str) -> str:
    """Return the URDF link that a collision came from, even if sdformat has merged that link into its parent.

    >>> link_of_collision("left_tip_link_collision_2")
    'left_tip_link'
    >>> link_of_collision("base_link_fixed_joint_lump__base_link_inertia_collision")
    'base_link_inertia'
    """
    return re.sub(r"_collision(_\d+)?$", "", collision.rsplit(_MERGED, 1)[-1])
