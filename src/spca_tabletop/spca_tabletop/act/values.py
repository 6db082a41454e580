"""The values that a tabletop skill gets from its `ctx`.

They are plain JSON here, and records with attributes in the sandbox.
"""

from __future__ import annotations

from typing import TypedDict


class Pose(TypedDict):
    """A pose of the tool, the point between the fingertips.

    x, y, z are metres in the world frame (x away from the robot, y to the left as the camera sees it, z up),
    yaw is radians about z. The fingers always point down and close across `yaw`.
    """

    x: float
    y: float
    z: float
    yaw: float


class Thing(TypedDict):
    """An object as last seen.

    x, y, z of its centre in metres in the world frame, yaw in radians, top the height of its upper face in
    metres, size [x, y, z] in metres; kind is cube, cuboid, cylinder, ball, plate, mat, bowl, tray or table;
    colour is "" where it has none.
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
    """A tool pose from which the open fingers fit around an object, and how wide to open them, in metres."""

    pose: Pose
    gap: float


class Spot(TypedDict):
    """A place next to a cube: `pose` leaves a small gap between the two, `contact` closes it."""

    pose: Pose
    contact: Pose
