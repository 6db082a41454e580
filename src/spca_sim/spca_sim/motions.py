"""The motions of arm and gripper that a simulator is asked for, until they end. Knows nothing of ROS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from spca_core.layout import Layout
from spca_core.trajectory import JointTrajectory
from spca_sim.simulator import MujocoSimulator

TICK = 0.02
"""Simulated seconds between two looks at what moves."""
DONE, REPLACED, HELD = "done", "replaced", "held"

OnEnd = Callable[[str, str], None]
"""Listener that is called once with a motion's status, one of the above, and a message."""

_EPSILON = 1e-9
_STILL_GAP, _STILL_TICKS = 0.0001, 4  # the pads rest when the gap changes less (m) over so many ticks
_GRIPPER_TIMEOUT = 3.0
_RESET = "the world has been reset"


@dataclass
class _Motion:
    began: float
    duration: float
    on_end: OnEnd
    gaps: list[float] = field(default_factory=list)


class Motions:
    """At most one motion of the arm and one of the gripper; a newer one takes an older one's place.

    All calls must come from one thread.
    """

    def __init__(self, simulator: MujocoSimulator) -> None:
        self._sim = simulator
        self._arm: _Motion | None = None
        self._gripper: _Motion | None = None

    def follow(self, trajectory: JointTrajectory, on_end: OnEnd) -> None:
        """Begin a trajectory. Raises what the simulator raises for a bad one."""
        self._sim.follow(trajectory)
        self._end("_arm", REPLACED)
        self._arm = _Motion(self._sim.time, trajectory.duration, on_end)

    def grip(self, gap: float, on_end: OnEnd) -> None:
        """Begin to drive the pads. Raises what the simulator raises for a gap out of range."""
        self._sim.command_gripper(gap)
        self._end("_gripper", REPLACED)
        self._gripper = _Motion(self._sim.time, _GRIPPER_TIMEOUT, on_end)

    def hold(self) -> None:
        """Brake the arm to a standstill."""
        self._sim.hold()
        self._end("_arm", HELD)

    def begun(self) -> float | None:
        """Return the simulated time at which the trajectory under way began, or None."""
        return self._arm.began if self._arm else None

    def reset(self, layout: Layout, seed: int) -> None:
        """See `MujocoSimulator.reset`; motions under way end."""
        self._sim.reset(layout, seed)
        for which in ("_arm", "_gripper"):
            self._end(which, HELD, _RESET)

    def advance(self, seconds: float) -> None:
        """Let time pass, at most a tick, and end what is over."""
        self._sim.step(min(seconds, TICK))
        now = self._sim.time
        if self._arm is not None and now - self._arm.began >= self._arm.duration - _EPSILON:
            self._end("_arm", DONE)
        if self._gripper is not None:
            gaps = self._gripper.gaps
            gaps.append(self._sim.joint_state().gripper_gap)
            recent = gaps[-_STILL_TICKS:]
            still = len(recent) == _STILL_TICKS and max(recent) - min(recent) < _STILL_GAP
            if still or now - self._gripper.began >= self._gripper.duration:
                self._end("_gripper", DONE)

    def _end(self, which: str, status: str, message: str = "") -> None:
        motion: _Motion | None = getattr(self, which)
        if motion is not None:
            setattr(self, which, None)
            motion.on_end(status, message)
