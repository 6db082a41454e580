"""The tabletop for reinforcement learning.

Importing this module registers every level: after it, `gymnasium.make("spca/Tabletop-stack_01-v0")` makes
one; without it, `gymnasium.make("spca_tabletop.gym:spca/Tabletop-stack_01-v0")` does both.

A policy moves the joints itself, without planner, skills or perception; the referee rewards and ends the
level.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import register
from ruckig import InputParameter, Ruckig, Trajectory

from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.trajectory import JointTrajectory
from spca_core.verdict import Outcome
from spca_referee.level import list_levels

PERIOD_S = 0.1
"""Simulated seconds of one step."""
MAX_GAP = 0.085
"""Widest opening of the gripper, metres."""
_POINTS = 6  # of the trajectory of one step


class TabletopEnv(gymnasium.Env[dict[str, Any], np.ndarray]):
    """One level.

    Observation: `colour` (480, 640, 3) uint8, `depth` (480, 640) float32 in metres along the optical axis (0
    where there is none), `joints` (6,) float64 in radians, `gripper` (1,) float64, the gap between the pads
    in metres.

    Action (7,) float64: joint targets in radians, and the gap in metres. The arm moves towards them within
    the limits of velocity, acceleration and jerk of `spca_motion.limits`, for 0.1 simulated seconds.

    Reward: the growth of the referee's partial score (0 to 1). Terminated by success or failure, truncated by
    the level's time limit. `info` holds `outcome`, `score` and `reason`.

    `reset(seed=…)` draws the table (for presets other than nominal) and the sensor's noise;
    `options={"preset": …}` changes the preset.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / PERIOD_S)}

    def __init__(self, level: str, preset: str = "nominal", render_mode: str | None = None) -> None:
        from spca_motion.limits import EMPTY
        from spca_tabletop.presets import load_table

        self.render_mode = render_mode
        self._options = RunOptions(level=level, preset=preset)
        self._world, self._level = load_table(self._options)
        self._simulator: Any = None
        camera = self._world.camera
        size = (camera.height, camera.width)
        reach = np.full(6, 2 * np.pi)
        self.observation_space = spaces.Dict(
            {
                "colour": spaces.Box(0, 255, (*size, 3), np.uint8),
                "depth": spaces.Box(0.0, np.inf, size, np.float32),
                "joints": spaces.Box(-2 * reach, 2 * reach, dtype=np.float64),
                "gripper": spaces.Box(-0.01, 0.1, (1,), np.float64),
            }
        )
        self.action_space = spaces.Box(np.append(-reach, 0.0), np.append(reach, MAX_GAP), dtype=np.float64)
        self._generator = Ruckig(6)
        self._input = InputParameter(6)
        self._input.max_velocity = list(EMPTY.velocity)
        self._input.max_acceleration = list(EMPTY.acceleration)
        self._input.max_jerk = list(EMPTY.jerk)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Lay the table again. Raises InputError for an unknown preset."""
        from spca_referee.referee import Referee
        from spca_sim.simulator import MujocoSimulator
        from spca_tabletop.presets import PRESETS, draw_table

        super().reset(seed=seed)
        preset = (options or {}).get("preset", self._options.preset)
        if preset not in PRESETS:
            raise InputError(f"unknown preset '{preset}'", hint=", ".join(PRESETS))
        draw = int(self.np_random.integers(2**31))
        layout, variation = draw_table(preset, draw, self._world, self._level)
        self.close()
        self._simulator = MujocoSimulator(self._world, True, variation)
        self._simulator.reset(layout, draw)
        self._referee = Referee(self._level, self._world, layout.poses, start=self._simulator.time)
        self._simulator.on_contacts(self._referee.consume)
        self._input.current_position = list(self._simulator.joint_state().position)
        self._input.current_velocity = self._input.current_acceleration = [0.0] * 6
        self._score = self._referee.verdict.score
        return self._observe(), self._info()

    def step(self, action: np.ndarray) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Move towards the targets for 0.1 s of simulated time."""
        bounded = np.clip(action, self.action_space.low, self.action_space.high)  # type: ignore[attr-defined]
        self._simulator.follow(self._towards(bounded[:6]))
        self._simulator.command_gripper(float(bounded[6]))
        self._simulator.step(PERIOD_S)
        verdict = self._referee.verdict
        reward, self._score = verdict.score - self._score, verdict.score
        ended = verdict.outcome in (Outcome.SUCCESS, Outcome.FAIL)
        return self._observe(), float(reward), ended, verdict.outcome is Outcome.TIMEOUT, self._info()

    def render(self) -> Any:
        """The camera's colour image (480, 640, 3)."""
        return self._observe()["colour"] if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Release the simulator."""
        if self._simulator is not None:
            self._simulator.close()
            self._simulator = None

    def _towards(self, target: np.ndarray) -> JointTrajectory:
        """The jerk-limited trajectory of this step; the next one goes on from its end."""
        self._input.target_position = list(target)
        self._input.target_velocity = self._input.target_acceleration = [0.0] * 6
        whole = Trajectory(6)
        self._generator.calculate(self._input, whole)
        times = np.linspace(0.0, PERIOD_S, _POINTS)
        states = [whole.at_time(time) for time in times]
        position, velocity, acceleration = states[-1][:3]
        self._input.current_position, self._input.current_velocity = position, velocity
        self._input.current_acceleration = acceleration
        return JointTrajectory(times, np.array([s[0] for s in states]), np.array([s[1] for s in states]))

    def _observe(self) -> dict[str, Any]:
        frame, state = self._simulator.capture(), self._simulator.joint_state()
        return {
            "colour": frame.colour,
            "depth": np.nan_to_num(frame.depth, nan=0.0),
            "joints": np.asarray(state.position, np.float64),
            "gripper": np.array([state.gripper_gap], np.float64),
        }

    def _info(self) -> dict[str, Any]:
        verdict = self._referee.verdict
        return {"outcome": verdict.outcome.value, "score": verdict.score, "reason": verdict.reason}


for _level in list_levels():
    register(f"spca/Tabletop-{_level}-v0", f"{__name__}:TabletopEnv", kwargs={"level": _level})
