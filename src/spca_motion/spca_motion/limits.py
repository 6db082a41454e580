"""Limits of velocity and workspace, enforced for every motion that a skill requests."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spca_core.arms import ArmDescription
from spca_core.errors import MotionError
from spca_core.geometry import Array, Vec3
from spca_core.world import World

# How far beyond the table's edges the tool may go (so that it can drop an object next to the table), and how
# high above its surface.
_BEYOND_TABLE = 0.30
_ABOVE_TABLE = 1.10
# Share of what a joint can do that a motion asks of it at most.
_MARGIN = 0.9
SLOWEST = 0.01  # smallest share of its full speed that a motion may have


@dataclass(frozen=True)
class MotionLimits:
    """Limits per joint, each of shape (n,), in rad/s, rad/s² and rad/s³.

    `tool_speed` limits straight lines, in m/s.
    """

    velocity: Array
    acceleration: Array
    jerk: Array
    tool_speed: float

    def slowed(self, speed: float) -> MotionLimits:
        """Return the limits under which a path takes 1/`speed` times as long; `speed` in [SLOWEST, 1].

        Raises MotionError('limit') outside that range.
        """
        if not SLOWEST <= speed <= 1.0:
            raise MotionError("limit", f"speed must be in [{SLOWEST:g}, 1], not {speed:g}")
        return MotionLimits(
            self.velocity * speed, self.acceleration * speed**2, self.jerk * speed**3, self.tool_speed * speed
        )

    def within(self, arm: ArmDescription) -> MotionLimits:
        """Return the limits as far as the arm's own joints allow, with a margin for tracking.

        Where it has more joints than these limits, the first limit is that of as many joints more.
        """
        more = len(arm.joints) - len(self.velocity)
        velocity, acceleration, jerk = (
            np.concatenate([np.repeat(limit[:1], more), limit])
            for limit in (self.velocity, self.acceleration, self.jerk)
        )
        return replace(
            self,
            velocity=np.minimum(velocity, _MARGIN * arm.column("velocity")),
            acceleration=np.minimum(acceleration, arm.column("acceleration")),
            jerk=jerk,
        )


# These limits are well within a UR5's (180 °/s, torques 150 and 28 N·m); see `within`.
EMPTY = MotionLimits(
    velocity=np.full(6, 2.6),
    acceleration=np.array([6.0, 6.0, 8.0, 10.0, 10.0, 10.0]),
    jerk=np.array([60.0, 60.0, 80.0, 100.0, 100.0, 100.0]),
    tool_speed=0.5,
)
# Limits while an object is held. It is then accelerated by 2 to 3 m/s². Friction would hold more, but at a
# time step of 2 ms a held cube creeps between the pads, by about 0.5 mm in a wide swing, and more at higher
# speed.
HOLDING = MotionLimits(
    velocity=np.full(6, 2.0),
    acceleration=np.array([3.5, 3.5, 4.5, 6.0, 6.0, 6.0]),
    jerk=np.array([30.0, 30.0, 40.0, 50.0, 50.0, 50.0]),
    tool_speed=0.35,
)


@dataclass(frozen=True)
class WorkspaceBox:
    """The box in `world` that the tool centre point may not leave.

    Its corners `low` and `high` have shape (3,), in metres.
    """

    low: Array
    high: Array

    @classmethod
    def around(cls, world: World) -> WorkspaceBox:
        """Return the box from the table's surface upwards, and a little beyond its edges."""
        table = world.table
        middle = np.array(table.centre)
        half = np.array(table.size[:2]) / 2 + _BEYOND_TABLE
        return cls(np.append(middle - half, table.top), np.append(middle + half, table.top + _ABOVE_TABLE))

    def contains(self, point: Array | Vec3) -> bool:
        """Return whether a point (3,) is inside; NaN is not."""
        return bool(((point >= self.low) & (point <= self.high)).all())

    def check(self, point: Array | Vec3, what: str) -> None:
        """Raise MotionError('limit') if a point (3,), which is `what`, lies outside the workspace."""
        if not self.contains(point):
            x, y, z = point
            ranges = zip("xyz", self.low, self.high, strict=True)
            box = ", ".join(f"{axis} {low:.2f} to {high:.2f}" for axis, low, high in ranges)
            where = f"({x:.3f}, {y:.3f}, {z:.3f}) is outside the workspace: {box} m"
            raise MotionError("limit", f"{what} {where}")
