"""Reference values for the joint servos: trajectories, braking and gripper travel."""

from __future__ import annotations

import numpy as np

from spca_core.arms import ArmDescription
from spca_core.errors import MotionError
from spca_core.geometry import Array
from spca_core.trajectory import JointTrajectory, PiecewiseCubic
from spca_robot.gripper_2f85 import SPEED, STROKE


def check_trajectory(trajectory: JointTrajectory, position: Array, within: float) -> None:
    """Raise ValueError, saying what is wrong, unless it is well formed, for an arm at `position` (n,).

    Raises MotionError('deviation') if it does not begin `within` so many rad of there.
    """
    joints = len(position)
    shape = len(trajectory.times), joints
    if shape[0] < 1 or trajectory.positions.shape != shape or trajectory.velocities.shape != shape:
        raise ValueError(f"a trajectory of N ≥ 1 times needs (N, {joints}) positions and velocities")
    if trajectory.times[0] != 0.0 or (np.diff(trajectory.times) <= 0).any():
        raise ValueError("a trajectory's times must ascend strictly from 0")
    if not (np.isfinite(trajectory.positions).all() and np.isfinite(trajectory.velocities).all()):
        raise ValueError("a trajectory's positions and velocities must be finite")
    off = float(np.abs(trajectory.positions[0] - position).max())
    if off > within:
        raise MotionError("deviation", f"the trajectory starts {off:.2f} rad away from the arm")


def reference(trajectory: JointTrajectory, dt: float) -> tuple[Array, Array]:
    """Return positions and velocities (M, n) at dt, 2·dt, … to the end: cubic Hermite between points.

    It ends at rest.
    """
    steps = max(1, int(np.ceil(trajectory.duration / dt - 1e-9)))
    if len(trajectory.times) == 1:
        return trajectory.positions[:1].copy(), np.zeros_like(trajectory.velocities[:1])
    t = np.minimum(np.arange(1, steps + 1) * dt, trajectory.duration)
    spline = PiecewiseCubic(trajectory.times, trajectory.positions, trajectory.velocities)
    q, v = spline(t), spline(t, 1)
    v[-1] = 0.0
    return q, v


class GripperRamp:
    """The commanded gap, travelling to its target no faster than the real gripper does."""

    def __init__(self, gap: float = STROKE) -> None:
        self.setpoint = gap
        self.target = gap

    def command(self, gap: float, measured: float) -> None:
        """Drive towards `gap`, starting from the present gap if it lies on the way.

        This loses no time in unloading a grip.
        """
        low, high = sorted((self.setpoint, gap))
        self.setpoint, self.target = min(max(measured, low), high), gap

    def advance(self, dt: float) -> float:
        """Go one step on, and return the gap to command."""
        self.setpoint += min(max(self.target - self.setpoint, -SPEED * dt), SPEED * dt)
        return self.setpoint


class ArmServo:
    """Steps through a reference and then holds its last point."""

    def __init__(self, arm: ArmDescription, position: Array) -> None:
        self._braking, self._stiffness = arm.column("braking"), arm.column("stiffness")
        # A command leads its reference by this times the velocity: that cancels the servo's own damping.
        self._lead = arm.column("damping") / self._stiffness
        self._load(position[None].copy(), np.zeros((1, len(position))))

    def follow(self, trajectory: JointTrajectory, dt: float) -> None:
        """Begin a trajectory at its first point."""
        self._load(*reference(trajectory, dt))

    def brake(self, position: Array, velocity: Array, inertia: Array, dt: float) -> None:
        """Begin to stop from that state.

        All joints decelerate together and halt at the same time, within their limits.

        `inertia` (n, n) is the arm's joint-space inertia there, kg·m². The positions lead the motion by the
        servo error that produces the braking torque. Without this lead the arm would creep for 0.1 s after
        the reference has stopped.
        """
        duration = float(np.max(np.abs(velocity) / self._braking))
        if duration < dt:
            self._load(position[None].copy(), np.zeros((1, len(position))))
            return
        t = np.minimum(np.arange(1, int(np.ceil(duration / dt)) + 1) * dt, duration)[:, None]
        q, v = position + velocity * (t - t**2 / (2 * duration)), velocity * (1 - t / duration)
        q[:-1] -= inertia @ (velocity / duration) / self._stiffness
        self._load(q, v)

    def advance(self) -> Array:
        """Go one step on, and return the servo command (n,) for it."""
        if self._next < len(self._commands):
            self._next += 1
        return np.asarray(self._commands[self._next - 1])

    @property
    def state(self) -> tuple[Array, Array]:
        """The reference's position and velocity at the step last advanced to."""
        i = max(self._next - 1, 0)
        return self._q[i], self._v[i]

    @property
    def done(self) -> bool:
        """The servo holds the last point."""
        return self._next >= len(self._commands)

    def save(self) -> tuple[Array, Array, int]:
        """Return the servo's state for a snapshot."""
        return self._q, self._v, self._next

    def load(self, saved: tuple[Array, Array, int]) -> None:
        """Restore what `save` returned."""
        q, v, at = saved
        self._load(q, v)
        self._next = at

    def _load(self, q: Array, v: Array) -> None:
        self._q, self._v, self._commands, self._next = q, v, np.asarray(q + v * self._lead), 0
