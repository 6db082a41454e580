"""Opens, closes and senses with the gripper of the `Robot` port. Metres, newtons, simulated seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from spca_core.errors import MotionError
from spca_core.ports.table import Robot
from spca_core.trajectory import JointState
from spca_motion.execution import StopGate, Tolerances
from spca_robot.gripper_2f85 import STROKE

# Above this force and this gap, an object is between the pads.
HOLD_FORCE, HOLD_GAP = 8.0, 0.002
# A commanded gap counts as reached within this tolerance.
_REACHED = 0.002
# The pads are at rest when gap and force change less than this over `_WINDOW` seconds, and have begun to move
# when the gap has changed by `_MOVED`.
_STILL_GAP, _STILL_FORCE, _WINDOW, _MOVED = 0.0001, 1.0, 0.06, 0.001
_TIMEOUT = 3.0
# Pads that have pressed against nothing for so long (s) have lost what they held.
_LOST_AFTER = 0.04
# Release: the first millimetres are slow, so that neither pad drags the object along.
_RELEASE_STEP, _RELEASE_STEPS, _RELEASE_PAUSE = 0.001, 5, 0.02


class Gripper:
    """Commands the pads and waits until they are at rest.

    `state` gives a joint state that is fresh, or raises.
    """

    def __init__(
        self, robot: Robot, gate: StopGate, state: Callable[[], JointState], lag: float = Tolerances.lag
    ) -> None:
        """Allow the pads to move `lag` (simulated s) later than the driver begins, and to pause that long."""
        self._robot, self._gate, self._state, self._lag = robot, gate, state, lag

    def open(self, gap: float) -> None:
        """Open (or close) to `gap`. Raises MotionError('gripper') if something keeps the pads from it."""
        self._check_gap(gap)
        now = self._state().gripper_gap
        if self.holding() and gap > now:
            for step in range(1, _RELEASE_STEPS + 1):
                if now + step * _RELEASE_STEP < gap:
                    self._gate.command_gripper(now + step * _RELEASE_STEP)
                    self._robot.wait(_RELEASE_PAUSE)
        reached = self._drive(gap)
        if abs(reached - gap) > _REACHED:
            raise MotionError(
                "gripper",
                f"the pads stopped {1000 * reached:.0f} mm apart instead of {1000 * gap:.0f}; "
                "are they blocked?",
            )

    def close(self, gap: float) -> float:
        """Close until the pads meet resistance or reach `gap`; returns the gap."""
        self._check_gap(gap)
        return self._drive(gap)

    def holding(self) -> bool:
        """Return whether the pads are pressed against something."""
        return _pressed(self._state())

    def _drive(self, gap: float) -> float:
        """Command a gap and wait until the pads are at rest; returns the gap reached."""
        begun = self._state()
        self._gate.command_gripper(gap)
        seen: deque[JointState] = deque()

        def at_rest(state: JointState) -> bool:
            seen.append(state)
            while len(seen) > 1 and seen[1].stamp <= state.stamp - max(_WINDOW, self._lag):
                seen.popleft()
            due = state.stamp - max(self._robot.begun(), begun.stamp) > self._lag
            obeyed = due or abs(state.gripper_gap - begun.gripper_gap) > _MOVED
            expected = abs(state.gripper_gap - gap) <= _REACHED or (obeyed and _pressed(state))
            # Pads at rest elsewhere without force may not have received the command yet.
            patience = _WINDOW if expected else max(_WINDOW, self._lag)
            return self._gate.is_stopped or ((expected or due) and _still(seen, patience))

        rested = self._robot.wait(_TIMEOUT, at_rest)
        self._gate.check()
        if not rested:
            raise MotionError("timeout", f"the gripper is still moving after {_TIMEOUT:.0f} s")
        return self._state().gripper_gap

    @staticmethod
    def _check_gap(gap: float) -> None:
        if not 0.0 <= gap <= STROKE:
            raise MotionError("limit", f"the pads open from 0 to {STROKE} m, not to {gap}")


class GripWatch:
    """Says, from gap and force alone, when the object between the pads has been lost."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._empty_since: float | None = None

    def __call__(self, state: JointState) -> str:
        """Explain why the object counts as lost; empty while it is held. Ask at every joint state."""
        if _pressed(state):
            self._empty_since = None
            return ""
        if self._empty_since is None:
            self._empty_since = state.stamp
        if state.stamp - self._empty_since < _LOST_AFTER:
            return ""
        return f"{self._name} was lost: nothing presses against the pads"


def _pressed(state: JointState) -> bool:
    return state.gripper_gap > HOLD_GAP and state.gripper_force > HOLD_FORCE


def _still(seen: Sequence[JointState], seconds: float) -> bool:
    """Return whether gap and force were nearly constant over the last `seconds` of the ordered states."""
    begin = seen[-1].stamp - seconds + 1e-9
    before = [s for s in seen if s.stamp <= begin]
    recent = before[-1:] + [s for s in seen if s.stamp > begin]
    gaps, forces = [s.gripper_gap for s in recent], [s.gripper_force for s in recent]
    still = max(gaps) - min(gaps) < _STILL_GAP and max(forces) - min(forces) < _STILL_FORCE
    return still and bool(before)
