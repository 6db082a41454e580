"""The values that a tabletop skill gets from its `ctx`.

They are plain JSON here, and records with attributes in the sandbox.
"""

from __future__ import annotations

import math
from typing import Any, TypedDict

from spca_core import geometry
from spca_core.geometry import top_down, top_down_yaw
from spca_core.names import TABLE_SYMBOL
from spca_core.scene import SceneObject
from spca_core.world import World


class Pose(TypedDict):
    """The tool, the point between the fingertips.

    Metres (x away from the robot, y left, z up), radians about z. Fingers point down, close across `yaw`.
    """

    x: float
    y: float
    z: float
    yaw: float


class Thing(TypedDict):
    """x, y, z of its centre, top of its upper face, size [x, y, z]."""

    name: str
    kind: str
    colour: str
    x: float
    y: float
    z: float
    yaw: float
    top: float
    size: list[float]
    visible: bool
    confidence: float


class Grasp(TypedDict):
    """`gap` is how wide to open before."""

    pose: Pose
    gap: float


class Spot(TypedDict):
    """`pose` leaves a small gap, `contact` closes it."""

    pose: Pose
    contact: Pose


def table_of(world: World) -> SceneObject:
    """The table as a thing among others: a planning object that skills may be called with."""
    table = world.table
    pose = geometry.Pose.from_xyz_yaw(*table.centre, table.top - table.size[2] / 2, 0.0)
    return SceneObject(id=TABLE_SYMBOL, kind="table", colour="", pose=pose, size=table.size, confidence=1.0)


def thing_value(o: SceneObject) -> Thing:
    """Return what a skill is told about an object."""
    x, y, z = o.pose.position
    return {
        "name": o.id, "kind": o.kind, "colour": o.colour, "x": x, "y": y, "z": z, "yaw": o.pose.yaw,
        "top": o.top,
        "size": list(o.size), "visible": o.visible, "confidence": o.confidence,
    }  # fmt: skip


def pose_value(pose: geometry.Pose) -> Pose:
    """A tool pose as a skill knows it."""
    x, y, z = pose.position
    return {"x": x, "y": y, "z": z, "yaw": top_down_yaw(pose)}


def spot_value(pose: geometry.Pose, contact: geometry.Pose) -> Spot:
    """A place's two tool poses as a skill knows them."""
    return {"pose": pose_value(pose), "contact": pose_value(contact)}


def raised(pose: geometry.Pose, by: float) -> geometry.Pose:
    """The same pose, higher by so many metres."""
    x, y, z = pose.position
    return pose.model_copy(update={"position": (x, y, z + by)})


def tool_pose(value: Any) -> geometry.Pose:
    """A skill's pose as a tool pose; ValueError when it is none."""
    try:
        x, y, z, yaw = (float(value[k]) for k in ("x", "y", "z", "yaw"))
    except (TypeError, KeyError, ValueError):
        raise ValueError(f"a pose has x, y, z and yaw as numbers, not {str(value)[:80]}") from None
    if not all(map(math.isfinite, (x, y, z, yaw))):
        raise ValueError("a pose must be finite")
    return top_down(x, y, z, yaw)
