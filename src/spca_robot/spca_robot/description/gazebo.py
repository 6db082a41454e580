"""Gazebo's settings of the robot's links beyond URDF: friction, self-collision, contact sensors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spca_robot.description.xml import Element, add

CONTACT_TOPIC = "/spca/gazebo/contacts"
"""Topic on which all contact sensors publish, those of the robot and of the world."""

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
    own = collision.rsplit(_MERGED, 1)[-1]
    return re.sub(r"_collision(_\d+)?$", "", own)


def keep_fixed_joint(robot: Element, joint: str) -> None:
    """Keep a fixed joint and its child link, which sdformat would else merge into the parent link."""
    add(add(robot, "gazebo", reference=joint), "preserveFixedJoint", True)


def add_link_tags(robot: Element, link: str, frictions: Sequence[float]) -> None:
    """Add Gazebo's tags of a link: contact sensor, friction (the least of its shapes'), self-collision."""
    if not frictions:
        return
    tags = add(robot, "gazebo", reference=link)
    mu = min(frictions)
    add(tags, "mu1", mu)
    add(tags, "mu2", mu)
    add(tags, "selfCollide", True)
    add_contact_sensor(tags, f"{link}_contact", collision_names(link, len(frictions)))


def add_contact_sensor(parent: Element, name: str, collisions: Sequence[str]) -> None:
    """Add a sensor of all that touches a link's collisions: one message a step on the shared topic."""
    sensor = add(parent, "sensor", name=name, type="contact")
    add(sensor, "always_on", True)
    contact = add(sensor, "contact")
    for collision in collisions:
        add(contact, "collision", collision)
    add(contact, "topic", CONTACT_TOPIC)
