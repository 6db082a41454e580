"""The values that a tabletop skill gets from its `ctx`.

They are plain JSON here, and records with attributes in the sandbox.
"""

from __future__ import annotations

from typing import TypedDict


class Pose(TypedDict):
    """The tool, the point between the fingertips.

    Metres (x away from the robot, y left, z up), radians about z. The fingers point down, close across `yaw`.
    """

    x: float
    y: float
    z: float
    yaw: float


class Thing(TypedDict):
    """An object as last seen.

    x, y, z of the centre, top the height of the upper face, size [x, y, z]; kind is cube, cuboid, cylinder,
    ball, plate, mat, bowl, tray or table.
    """

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
    """Where the fingers fit around an object, and how wide to open them."""

    pose: Pose
    gap: float


class Spot(TypedDict):
    """A place next to a thing: `pose` leaves a small gap, `contact` closes it."""

    pose: Pose
    contact: Pose
