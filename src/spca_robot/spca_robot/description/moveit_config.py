"""MoveIt's parameters for `moveit_py` (`files/moveit.yaml.j2`), and the SRDF (`files/cobot.srdf.j2`).

Pairs of the robot's own links that may touch are neighbours, and anything within the gripper. The embedded
simulator leaves out the same pairs; the SRDF and the contact bridge are made from this list.
The parameters of ros2_control's controllers are here, too (`files/controllers.yaml.j2`).
"""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from spca_core.contacts import Pair, pair
from spca_core.errors import InputError
from spca_core.world import World
from spca_robot.description.names import GripperNames
from spca_robot.description.xml import filled
from spca_robot.gripper_2f85 import CLOSED_ANGLE

VELOCITY_SCALING = 0.3
"""Default share of the joints' speed limits that MoveIt uses."""
PIPELINES = {
    "ompl": ("ompl_interface/OMPLPlanner", "RRTConnect"),
    "pilz_industrial_motion_planner": ("pilz_industrial_motion_planner/CommandPlanner", "PTP"),
    "chomp": ("chomp_interface/CHOMPPlanner", ""),
    "stomp": ("stomp_moveit/StompPlanner", ""),
}
"""Planning pipelines by name: plugin, and planner's id. Pilz's PTP goes straight in joint space, or fails."""


def moveit_config(
    urdf: str, world: World, gripper: GripperNames, use_sim_time: bool = True, pipeline: str = "ompl"
) -> dict[str, Any]:
    """Return all parameters of the `moveit_py` node, with one of `PIPELINES` loaded.

    `use_sim_time` must be inside: remappings do not reach the node. With it, MoveIt 2.12 aborts its process
    in about one start of ten: its TrajectoryExecutionManager refuses parameters that its clock declares in
    another thread.
    """
    plugin, planner_id = PIPELINES[pipeline]
    text = filled(
        "moveit.yaml", arm=world.robot.arm, scaling=VELOCITY_SCALING,
        pipeline=pipeline, planner_id=planner_id, plugin=plugin,
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


def harmless_pairs(urdf: str, gripper_root: str) -> frozenset[Pair]:
    """Return the unordered pairs (a < b) of links in a URDF's text whose contact is harmless.

    Only links with collision shapes count. Links without (frames such as `flange`) do not part neighbours:
    what they join counts as adjacent. Raises InputError if there is no such gripper link.
    """
    robot = ET.fromstring(urdf)
    solid = set(solid_links(urdf))
    upper, lower = (robot.findall(f"joint/{end}") for end in ("parent", "child"))
    parents = {one.attrib["link"]: other.attrib["link"] for one, other in zip(lower, upper, strict=True)}
    if gripper_root not in parents:
        raise InputError(f"the robot description has no link '{gripper_root}'")
    above = {link: [a for a in _ancestors(link, parents) if a in solid] for link in (*solid, gripper_root)}
    adjacent = ((link, above[link][0]) for link in solid if above[link])
    gripper = sorted(link for link in solid if gripper_root in (link, *_ancestors(link, parents)))
    pairs = [*adjacent, *itertools.combinations(gripper, 2), (above[gripper_root][0], gripper_root)]
    return frozenset(itertools.starmap(pair, pairs))


def solid_links(urdf: str) -> tuple[str, ...]:
    """Return the links of a URDF that have collision shapes, in its order."""
    return tuple(
        e.attrib["name"] for e in ET.fromstring(urdf).findall("link") if e.find("collision") is not None
    )


def _ancestors(link: str, parents: dict[str, str]) -> Iterable[str]:
    while link in parents:
        link = parents[link]
        yield link


# Hz: once in two physics steps. gz_ros2_control makes up a mimic joint's error with the speed error ·
# UPDATE_RATE, a half of it a step. At one step's rate fingers swing about what they hold (decision 11).
UPDATE_RATE = 200

PRESS_GAIN = 10.0
"""Speed (1/s) at which a finger that is held back wants to go on, per rad that it is short of its goal.

Gazebo's motor gives all its force however small that speed is, but only while the contact is there: after a
step without it, the finger must be back in the next few (decision 11).
"""


def controllers(gripper: GripperNames, joints: Sequence[str]) -> str:
    """Return the parameters of the controller manager and controllers, as YAML; `joints` are the arm's."""
    return filled(
        "controllers.yaml",
        gripper=gripper,
        joints=list(joints),
        update_rate=UPDATE_RATE,
        press_gain=PRESS_GAIN,
    )
