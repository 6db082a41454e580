"""A `Robot` in lockstep with a simulator: waiting is what steps it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from spca_core.trajectory import JointState, JointTrajectory
from spca_sim.simulator import MujocoSimulator

_TICK = 0.02  # simulated seconds between two looks at `until`


class SimRobot:
    """See `spca_core.ports.robot.Robot`. Joint states are never stale: they are read off the simulator.

    `hold` may come from another thread than the one that waits; the simulator is never entered by two at
    once.
    """

    def __init__(self, simulator: MujocoSimulator) -> None:
        self._simulator = simulator
        self._begun = 0.0
        self._lock = threading.RLock()  # a contact listener, called while stepping, may ask to hold

    def now(self) -> float:
        """Simulated seconds."""
        return self._simulator.time

    def state(self) -> JointState:
        """The arm and the gripper now."""
        with self._lock:
            return self._simulator.joint_state()

    def follow(self, trajectory: JointTrajectory) -> None:
        """Begin to track a trajectory."""
        with self._lock:
            self._simulator.follow(trajectory)
            self._begun = self._simulator.time

    def begun(self) -> float:
        """A simulator begins at once."""
        return self._begun

    def command_gripper(self, gap: float) -> None:
        """Drive the pads towards `gap` metres."""
        with self._lock:
            self._simulator.command_gripper(gap)

    def hold(self) -> None:
        """Brake to a standstill."""
        with self._lock:
            self._simulator.hold()

    def step(self, seconds: float) -> None:
        """Let simulated time pass."""
        with self._lock:
            self._simulator.step(seconds)

    def wait(self, seconds: float, until: Callable[[JointState], bool] | None = None) -> bool:
        """Step the simulator by up to `seconds`; True as soon as `until` holds."""
        end = self._simulator.time + seconds
        while True:
            if until is not None and until(self.state()):
                return True
            left = end - self._simulator.time
            if left <= 1e-9:
                return False
            self.step(min(_TICK, left))
