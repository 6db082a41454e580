"""Pairs of the robot's own links that may touch: neighbours, and anything within the gripper.

The embedded simulator leaves out the same pairs; MoveIt's SRDF and the contact bridge are made from this
list.
"""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from spca_core.errors import InputError

LinkPair = tuple[str, str]


def harmless_pairs(urdf: str, gripper_root: str) -> frozenset[LinkPair]:
    """Return the unordered pairs (a < b) of links in a URDF's text whose contact is harmless.

    Only links with collision shapes count. Links without (frames such as `flange`) do not part neighbours:
    what they join counts as adjacent. Raises InputError if there is no such gripper link.
    """
    robot = ET.fromstring(urdf)
    solid = {e.attrib["name"] for e in robot.findall("link") if e.find("collision") is not None}
    parents = dict(_parent_and_child(joint) for joint in robot.findall("joint"))
    if gripper_root not in parents:
        raise InputError(f"the robot description has no link '{gripper_root}'")
    adjacent = (
        (link, above)
        for link in solid
        if (above := next((a for a in _ancestors(link, parents) if a in solid), None)) is not None
    )
    gripper = sorted(link for link in solid if gripper_root in (link, *_ancestors(link, parents)))
    wrist = next(a for a in _ancestors(gripper_root, parents) if a in solid)
    return _unordered([*adjacent, *itertools.combinations([*gripper], 2), (wrist, gripper_root)])


def solid_links(urdf: str) -> tuple[str, ...]:
    """Return the links of a URDF that have collision shapes, in its order."""
    return tuple(
        e.attrib["name"] for e in ET.fromstring(urdf).findall("link") if e.find("collision") is not None
    )


def _parent_and_child(joint: ET.Element) -> tuple[str, str]:
    parent, child = joint.find("parent"), joint.find("child")
    if parent is None or child is None:
        raise InputError(f"joint '{joint.get('name')}' lacks a parent or a child link")
    return child.attrib["link"], parent.attrib["link"]


def _ancestors(link: str, parents: dict[str, str]) -> Iterable[str]:
    while link in parents:
        link = parents[link]
        yield link


def _unordered(pairs: Iterable[LinkPair]) -> frozenset[LinkPair]:
    return frozenset((a, b) if a <= b else (b, a) for a, b in pairs if a != b)
