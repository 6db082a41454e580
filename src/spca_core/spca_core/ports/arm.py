"""Port: an arm with a gripper that plans and moves without collisions."""

from __future__ import annotations

from typing import Literal, Protocol

from spca_core.geometry import Array, Pose
from spca_core.scene import Scene
from spca_core.trajectory import JointState

NamedConfiguration = Literal["home", "out_of_view"]


class Arm(Protocol):
    """Plans and executes collision-free motions of an arm with a two-finger gripper.

    Every pose is that of the tool centre point (TCP) in `world`. The TCP lies between the fingertips, with z
    pointing out of the fingers and y from pad to pad.

    All calls block until the motion has ended and its result has been verified. They raise MotionError
    (`kind` is the reason: unreachable, collision, limit, deviation, timeout, cancelled, stale, gripper, lost)
    and never leave the arm moving. A motion ends at once (`lost`) when the attached object is no longer
    between the pads. Implementations enforce the limits of velocity, acceleration and workspace for every
    request. The port `Robot` is the level below.
    """

    def set_scene(self, scene: Scene) -> None:
        """Set the perceived obstacles for all further planning; a held object stays attached."""
        ...

    def attach(self, object_id: str) -> None:
        """Attach the object of that id in the planning scene to the gripper."""
        ...

    def detach(self) -> None:
        """Detach the held object; it stays in the planning scene where it is."""
        ...

    @property
    def held(self) -> str | None:
        """Id of the object attached to the gripper, or None."""
        ...

    def allow_contact(self, *object_ids: str) -> None:
        """Allow the gripper (or what it holds) to touch these objects from now on; none revokes it."""
        ...

    def move_joints(self, positions: Array, speed: float = 1.0) -> None:
        """Move collision-free to a joint goal (n,), radians. `speed` scales the velocities, at most by 1."""
        ...

    def move_to(self, pose: Pose, speed: float = 1.0) -> None:
        """Move collision-free to a tool pose."""
        ...

    def move_linear(self, pose: Pose, speed: float = 1.0) -> None:
        """Move in a straight line to a tool pose.

        The motion is refused as a whole if any part of the line is unreachable or in collision.
        """
        ...

    def move_named(self, name: NamedConfiguration, speed: float = 1.0) -> None:
        """Move collision-free to a named configuration of the world description."""
        ...

    def reachable(self, pose: Pose, gap: float | None = None) -> bool:
        """Return whether that tool pose has a collision-free configuration in the current planning scene.

        The pads are assumed `gap` metres apart (default: as now); an attached object is taken into account.
        """
        ...

    def open(self, gap: float = 0.085) -> None:
        """Open the gripper to `gap` metres and wait until it is open."""
        ...

    def close(self, gap: float = 0.0) -> float:
        """Close until the pads meet resistance or reach `gap`; returns the gap in metres."""
        ...

    def holding(self) -> bool:
        """Return whether the pads are pressed against something.

        The answer comes from gap and force only, never from perception.
        """
        ...

    def tool_pose(self) -> Pose:
        """Return the pose of the tool centre point, found by forward kinematics."""
        ...

    def state(self) -> JointState:
        """Return the newest joint state."""
        ...

    def wait(self, seconds: float) -> None:
        """Let simulated time pass."""
        ...

    def stop(self) -> None:
        """Stop now and refuse all further motion until `resume`. May be called from any thread."""
        ...

    def resume(self) -> None:
        """Allow motion again after a `stop`."""
        ...
