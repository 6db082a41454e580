"""The arm and the camera of a judge's episode as the ports that the stack drives and looks through."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spca_core.camera import RgbdFrame
from spca_core.geometry import Array, Pose
from spca_core.trajectory import JointState, JointTrajectory
from spca_core.world import World
from spca_judges.port import Episode
from spca_robot.gripper_2f85 import STROKE

MARGIN = 0.06
"""Metres around the work area that are looked at."""


class EpisodeRobot:
    """See `spca_core.ports.table.Robot`; waiting is what lets the episode's time pass.

    The judge's controller is a critically damped spring of `stiffness` (1/s²) towards what it is sent. It is
    sent the configuration, so far ahead of the trajectory, at which its response is the trajectory.
    """

    def __init__(self, episode: Episode, stiffness: float) -> None:
        self._episode = episode
        self._lead, self._inertia = 2 / np.sqrt(stiffness), 1 / stiffness
        self._opening = 1.0
        self.begin()

    def begin(self) -> None:
        """Take up the episode after a reset: open, and at rest where it is."""
        self._felt()
        self._opening = 1.0
        self._trajectory: JointTrajectory | None = None
        self._target, self._begun = self._state.position, self._state.stamp

    def now(self) -> float:
        """Simulated seconds."""
        return self._state.stamp

    def state(self) -> JointState:
        """As felt after the last period."""
        return self._state

    def follow(self, trajectory: JointTrajectory) -> None:
        """Begin a trajectory."""
        self._begun, self._trajectory = self._state.stamp, trajectory

    def begun(self) -> float:
        """At once."""
        return self._begun

    def command_gripper(self, gap: float) -> None:
        """Drive the pads towards `gap` metres."""
        self._opening = gap / STROKE

    def hold(self) -> None:
        """Brake; from any thread."""
        self._target = self._state.position + self._state.velocity * self._lead / 2
        self._trajectory = None

    def wait(self, seconds: float, until: Callable[[JointState], bool] | None = None) -> bool:
        """Act for up to `seconds`, in whole periods; True as soon as `until` holds."""
        end = self.now() + seconds
        while True:
            if until is not None and until(self._state):
                return True
            if self.now() > end - self._episode.period / 2:
                return False
            self._episode.act(self._command(), self._opening)
            self._felt()

    def _command(self) -> Array:
        trajectory = self._trajectory
        if trajectory is None:
            return self._target
        half = self._episode.period / 2  # what is sent holds for a period: it is right in the middle of it
        at = self.now() - self._begun + half
        before, position, after = (_at(trajectory, at + step) for step in (-half, 0.0, half))
        velocity, acceleration = (after - before) / (2 * half), (after - 2 * position + before) / half**2
        return np.asarray(position + self._lead * velocity + self._inertia * acceleration)

    def _felt(self) -> None:
        felt = self._episode.feel()
        gap = felt.opening * STROKE
        self._state = JointState(felt.stamp, felt.positions, felt.velocities, gap, felt.force)


def _at(trajectory: JointTrajectory, time: float) -> Array:
    columns = trajectory.positions.T
    return np.array([np.interp(time, trajectory.times, column) for column in columns])


class EpisodeCamera:
    """The first camera of an episode, as a `spca_core.ports.table.Camera` of a world.

    Its frames are cut down to the world's work area and what is up to `MARGIN` around it.
    """

    def __init__(self, episode: Episode, world: World) -> None:
        self._episode = episode
        base = world.robot.base
        self._mount = Pose.from_xyz_yaw(*base.position, base.yaw).matrix()
        sides = (world.work_area.x, world.work_area.y)
        xs, ys = ((low - MARGIN, high + MARGIN) for low, high in sides)
        self._corners = np.array([(x, y, world.table.top) for x in xs for y in ys])

    def capture(self) -> RgbdFrame:
        """A frame of now, in `world`."""
        frame = self._episode.look()[0]
        pose, k = self._mount @ frame.pose.matrix(), frame.intrinsics
        seen = (self._corners - pose[:3, 3]) @ pose[:3, :3]
        columns = k.fx * seen[:, 0] / seen[:, 2] + k.cx
        rows = k.fy * seen[:, 1] / seen[:, 2] + k.cy
        left, right = np.clip([columns.min(), columns.max()], 0, k.width).astype(int)
        top, bottom = np.clip([rows.min(), rows.max()], 0, k.height).astype(int)
        size = {"width": int(right - left), "height": int(bottom - top)}
        return RgbdFrame(
            colour=np.ascontiguousarray(frame.colour[top:bottom, left:right]),
            depth=np.ascontiguousarray(frame.depth[top:bottom, left:right]),
            intrinsics=k.model_copy(update={**size, "cx": k.cx - left, "cy": k.cy - top}),
            pose=Pose.from_matrix(pose), stamp=frame.stamp,
        )  # fmt: skip
