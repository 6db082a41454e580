"""Decides when simulated time advances and detects clients that have died or hang.

The module does not depend on ROS. Its owner calls `advance` repeatedly and passes on the clients' requests:

* While a motion is under way, or a client waits for time to pass, time runs as fast as possible (or at
  `rate`). It never gets more than `lead` seconds ahead of the time that these clients have reported as seen,
  so that a client that monitors a motion can stop it in time.
* Otherwise time runs at `idle_rate`; at 0 it stands still.
* After a command to hold, time runs until the arm is at rest.
* A client for which time has waited for `patience` wall-clock seconds counts as dead or hung, whatever it
  sends, until it has caught up. If the motion is its own, the arm holds.
* Somebody who waits for time is not kept waiting by a pause for longer than `PAUSE` wall-clock seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from spca_core.layout import Layout
from spca_core.trajectory import JointTrajectory
from spca_sim.simulator import MujocoSimulator, SimSnapshot

TICK = 0.02
"""Simulated seconds of one advance."""
DONE, REPLACED, HELD, STALE = "done", "replaced", "held", "stale"

OnEnd = Callable[[str, str], None]
"""Called once with a motion's status, one of the above, and a message."""

PAUSE = 5.0
"""Wall seconds that time may stand still although somebody waits for it: enough for a checkpoint."""
_EPSILON = 1e-9
_DOZE = 0.02  # wall seconds between two looks while time stands still
_STILL_GAP, _STILL_TICKS = (
    0.0001,
    4,
)  # the pads rest when the gap changes less than this (m) over so many ticks
_GRIPPER_TIMEOUT = 3.0
_MOST_CLIENTS = 16
_BRAKING, _AT_REST = (
    1.0,
    0.005,
)  # simulated seconds that a stop may take at most; rad/s of any joint that is none


@dataclass
class _Motion:
    client: str
    began: float
    duration: float
    on_end: OnEnd
    gaps: list[float] = field(default_factory=list)


@dataclass
class _Client:
    seen: float
    heard: float
    """When time began to wait for it, or when it was last up to date (wall seconds)."""
    until: float = 0.0


class SimulationClock:
    """See the module docstring. `rate` None means as fast as possible.

    All calls must come from one thread.
    """

    def __init__(
        self,
        simulator: MujocoSimulator,
        rate: float | None = None,
        idle_rate: float = 1.0,
        lead: float = 0.06,
        patience: float = 0.9,
        wall: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sim = simulator
        self._rate, self._idle_rate, self._lead, self._patience, self._wall = (
            rate,
            idle_rate,
            lead,
            patience,
            wall,
        )
        self._arm: _Motion | None = None
        self._gripper: _Motion | None = None
        self._clients: dict[str, _Client] = {}
        self._origin: tuple[float, float, float] | None = None  # wall and simulated seconds, rate
        self._braking_until = 0.0
        self._paused: float | None = None

    # --- requests of clients --------------------------------------------------------------------------------

    def lease(self, client: str, seen: float, until: float) -> None:
        """A client has handled everything up to `seen` and waits for `until` (0: for nothing).

        A report from the future refers to the world before a reset and arrived late; it is ignored.
        """
        now = self._sim.time
        if not seen <= now + _EPSILON:
            return
        known = self._clients.get(client)
        caught_up = seen + self._lead >= now - _EPSILON
        if known is None and len(self._clients) >= _MOST_CLIENTS:
            return
        heard = self._wall() if known is None or caught_up else known.heard
        given_up = known is not None and self._wall() - heard > self._patience
        self._clients[client] = _Client(seen, heard, 0.0 if given_up else min(until, now + 60.0))

    def follow(self, client: str, trajectory: JointTrajectory, on_end: OnEnd) -> None:
        """Begin a trajectory for a client. Raises what the simulator raises for a bad one."""
        self._sim.follow(trajectory)
        self._end("_arm", REPLACED)
        self._arm = _Motion(client, self._sim.time, trajectory.duration, on_end)
        self._hear(client)

    def grip(self, client: str, gap: float, on_end: OnEnd) -> None:
        """Begin to drive the pads for a client. Raises what the simulator raises for a gap out of range."""
        self._sim.command_gripper(gap)
        self._end("_gripper", REPLACED)
        self._gripper = _Motion(client, self._sim.time, _GRIPPER_TIMEOUT, on_end)
        self._hear(client)

    def hold(self) -> None:
        """Brake to a standstill. Time runs until the arm stands, whatever else is wanted."""
        self._brake()
        self._end("_arm", HELD)

    @property
    def paused(self) -> bool:
        """True if time stands still; somebody who wants it to pass waits for `PAUSE` wall seconds at most."""
        if self._paused is None:
            return False
        return not self.active or self._wall() - self._paused < PAUSE

    @paused.setter
    def paused(self, value: bool) -> None:
        self._paused = self._wall() if value else None

    def elapsed(self) -> float | None:
        """Seconds since the trajectory under way began, or None."""
        return self._sim.time - self._arm.began if self._arm else None

    # --- reset and restore ----------------------------------------------------------------------------------

    def reset(self, layout: Layout, seed: int) -> None:
        """See `MujocoSimulator.reset`; motions under way end."""
        self._sim.reset(layout, seed)
        self._forget()

    def restore(self, snapshot: SimSnapshot) -> None:
        """See `MujocoSimulator.restore`; motions under way end."""
        self._sim.restore(snapshot)
        self._forget()

    def _forget(self) -> None:
        self._end("_arm", HELD, "the world has been reset")
        self._end("_gripper", HELD, "the world has been reset")
        self._clients.clear()
        self._origin = None
        self._braking_until = 0.0

    # --- time -----------------------------------------------------------------------------------------------

    @property
    def active(self) -> bool:
        """True if any client needs time to advance."""
        now = self._sim.time
        if self._arm is not None or self._gripper is not None or self._braking_until > now:
            return True
        return any(c.until > now + _EPSILON for c in self._clients.values())

    def advance(self) -> float:
        """Advance one tick if it is due; return the wall-clock seconds until there is work again."""
        if self.paused:
            return _DOZE
        active = self.active
        if active and self._braking_until <= self._sim.time and (waited_for := self._laggards()):
            self._give_up_on_silent(waited_for)
            return 0.02
        rate = self._rate if active else min(self._idle_rate, self._rate or self._idle_rate)
        if rate == 0.0:
            self._origin = None
            return _DOZE
        if rate is not None and (early := self._early(rate)) > 0:
            return early
        self._sim.step(TICK)
        self._finish_motions()
        return 0.0 if rate is None else max(self._early(rate), 0.0)

    def _laggards(self) -> list[str]:
        """The clients that time must wait for."""
        now = self._sim.time
        wanting = {name for name, c in self._clients.items() if c.until > now + _EPSILON}
        wanting |= {m.client for m in (self._arm, self._gripper) if m is not None}
        return [name for name in wanting if now + TICK > self._clients[name].seen + self._lead + _EPSILON]

    def _give_up_on_silent(self, clients: list[str]) -> None:
        for name in clients:
            silence = self._wall() - self._clients[name].heard
            if silence < self._patience:
                continue
            self._clients[name].until = 0.0
            if self._gripper is not None and self._gripper.client == name:
                self._end("_gripper", STALE, f"nothing heard from '{name}' for {silence:.1f} s")
            if self._arm is not None and self._arm.client == name:
                self._brake()
                self._end(
                    "_arm", STALE, f"nothing heard from '{name}' for {silence:.1f} s: the arm was stopped"
                )

    def _brake(self) -> None:
        self._sim.hold()
        self._braking_until = self._sim.time + _BRAKING

    def _finish_motions(self) -> None:
        now = self._sim.time
        if self._braking_until > now and np.abs(self._sim.joint_state().velocity).max() < _AT_REST:
            self._braking_until = 0.0
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

    def _hear(self, client: str) -> None:
        until = self._clients[client].until if client in self._clients else 0.0
        self._clients[client] = _Client(self._sim.time, self._wall(), until)

    def _early(self, rate: float) -> float:
        """Wall-clock seconds by which the simulation is ahead at that rate.

        It never catches up after a lag.
        """
        wall, now = self._wall(), self._sim.time
        if self._origin is None or self._origin[2] != rate or now < self._origin[1]:
            self._origin = (wall, now, rate)
        ahead = self._origin[0] + (now - self._origin[1]) / rate - wall
        if ahead < -0.25:
            self._origin = (wall, now, rate)
        return ahead
