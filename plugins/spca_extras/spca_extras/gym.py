"""The tabletop for reinforcement learning.

Importing this module registers every level: after it, `gymnasium.make("spca/Tabletop-stack_01-v1")` makes
one, and `gymnasium.make_vec("spca/Tabletop-stack_01-v1", 8)` eight in a process each; without it,
`gymnasium.make("spca_extras.gym:spca/Tabletop-stack_01-v1")` does both.

A policy moves the joints itself, without planner, skills or perception, on the table that `spca run` and a
session have with the same world, preset and seed; the referee rewards and ends the level.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import cv2
import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import register
from gymnasium.vector import AsyncVectorEnv
from gymnasium.wrappers import TimeLimit
from ruckig import InputParameter, Ruckig, Trajectory

from spca_core.errors import InputError, one_of
from spca_core.names import COBOT, TABLE
from spca_core.options import RunOptions
from spca_core.result import Outcome
from spca_core.trajectory import JointTrajectory
from spca_motion.limits import EMPTY
from spca_referee.level import list_levels
from spca_referee.referee import Referee
from spca_referee.rules import bind_rules
from spca_robot.kinematics import ToolKinematics
from spca_sim.mujoco_world import MujocoWorld
from spca_tabletop.presets import PRESETS, draw_table, load_table

PERIOD_S = 0.1
"""Simulated seconds of one step."""
REACH = 0.15
"""Radians by which an action of 1 moves a joint's target within a step."""
MAX_GAP = 0.085
"""Widest opening of the gripper, metres."""
_POINTS = 6  # of the trajectory of one step
_LAG = 0.05  # rad between the arm and its plan after which the plan goes on from the arm

Observe = Literal["pictures", "state"]
Rewards = Literal["sparse", "dense"]


class TabletopEnv(gymnasium.Env[Any, np.ndarray]):
    """One level.

    Action (n + 1,) float32 in [-1, 1] for an arm of n joints: how far each joint's target moves in this step,
    as a share of `REACH`, and the opening of the gripper from closed (-1) to `MAX_GAP` (1). The arm follows
    within the limits of velocity, acceleration and jerk of `spca_motion.limits`, for 0.1 simulated seconds.

    Observation with `observe="pictures"`: `colour` (height, width, 3) uint8, `depth` (height, width) float32
    in metres along the optical axis (0 where there is none), `joints` (n,) float32 in radians, `gripper` (1,)
    float32, the gap between the pads in metres. With `observe="state"`, which renders nothing: one float32
    vector of joints, joint velocities, gap, and seven numbers for each object of the world: its position in
    metres and its orientation as a quaternion (x, y, z, w); zeros for an object that is not on this table.
    These poses are ground truth, which a robot would not have.

    Reward: the growth of the referee's partial score (0 to 1). `reward="dense"` adds how much nearer, in
    metres, the pairs have come that must touch. Terminated by success or failure, truncated by the level's
    time limit. `info` holds `outcome`, `score` and `reason`.

    `reset(seed=3)` lays the table of `spca run LEVEL --seed 3`, with its sensor noise; without a seed, some
    other. `options={"preset": …}` changes the preset.

    Args:
        level: The name of a level, or the path of a level file.
        preset: How the table is laid, unless `reset` says otherwise.
        render_mode: `rgb_array` for pictures from `render`, or None.
        observe: What an observation consists of.
        reward: Whether progress towards the contacts is rewarded, too.
        size: Height and width of the pictures in pixels; the camera's own by default.
        robot: An arm by name or by the path of its file; the world's own by default.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / PERIOD_S)}

    def __init__(
        self,
        level: str,
        preset: str = "nominal",
        render_mode: str | None = None,
        observe: Observe = "pictures",
        reward: Rewards = "sparse",
        size: tuple[int, int] | None = None,
        robot: str = "",
    ) -> None:
        for name, given, known in (("observe", observe, Observe), ("reward", reward, Rewards)):
            if given not in get_args(known):
                raise InputError(f"'{given}'", where=name, hint=one_of(given, get_args(known)))
        self.render_mode, self._preset = render_mode, preset
        self._world, self._level = load_table(RunOptions(level=level, robot=robot))
        self._simulator = MujocoWorld(self._world)
        self._referee: Referee | None = None
        self._state_only, self._dense = observe == "state", reward == "dense"
        camera = self._world.camera
        self._size = size or (camera.height, camera.width)
        self._joints = count = len(self._world.robot.arm.joints)
        self.action_space = spaces.Box(-1.0, 1.0, (count + 1,), np.float32)
        self.observation_space: spaces.Space[Any] = (
            spaces.Box(-np.inf, np.inf, (2 * count + 1 + 7 * len(self._world.objects),), np.float32)
            if self._state_only
            else spaces.Dict(
                colour=spaces.Box(0, 255, (*self._size, 3), np.uint8),
                depth=spaces.Box(0.0, np.inf, self._size, np.float32),
                joints=spaces.Box(-np.inf, np.inf, (count,), np.float32),
                gripper=spaces.Box(-0.01, 0.1, (1,), np.float32),
            )
        )
        self._tools = ToolKinematics(self._world)
        self._lower, self._upper = self._tools.arm.range.T
        self._generator, limits = Ruckig(count), EMPTY.within(self._world.robot.arm)
        self._input, self._fastest = InputParameter(count), limits.velocity
        self._input.max_velocity = list(limits.velocity)
        self._input.max_acceleration = list(limits.acceleration)
        self._input.max_jerk = list(limits.jerk)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Lay the table again. Raises InputError for an unknown preset."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31)) if seed is None else seed
        self._lay((options or {}).get("preset", self._preset), drawn)
        return self._observe(), self._info()

    def _lay(self, preset: str, seed: int) -> None:
        if preset not in PRESETS:
            raise InputError(f"unknown preset '{preset}'", hint=one_of(preset, PRESETS))
        self.close()
        layout, variation = draw_table(preset, seed, self._world, self._level)
        if variation != self._simulator.variation:
            self._simulator = MujocoWorld(self._world, variation=variation)
        self._simulator.reset(layout, seed)
        self._laid = layout.poses
        self._referee = referee = Referee(self._level, self._world, self._laid)
        judged = self._laid if self._level.needs_poses else ()
        self._simulator.on_contacts(
            lambda sample: referee.consume(
                sample, {name: self._simulator.object_pose(name) for name in judged}
            )
        )
        rules = bind_rules(self._level, self._world, self._laid)[0]
        self._pairs = [names for names in rules.contacts if TABLE not in names]
        self._plan_from_arm()
        self._score, self._distance = referee.verdict.score, self._apart()

    def step(self, action: np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move for 0.1 s of simulated time. Raises InputError for an action of another form, or with NaN."""
        wanted = np.asarray(action, float)
        formed = wanted.shape == self.action_space.shape
        if not (formed and np.isfinite(wanted).all()):
            hint = f"{self._joints + 1} numbers from -1 to 1: {self._joints} joints and the gripper"
            raise InputError(
                f"an action {'with NaN or inf' if formed else f'of shape {wanted.shape}'}", hint=hint
            )
        if self._referee is None:
            raise InputError("there is no table", hint="call reset() first")
        wanted, simulator = np.clip(wanted, -1.0, 1.0), self._simulator
        if np.abs(np.array(self._input.current_position) - simulator.state().position).max() > _LAG:
            self._plan_from_arm()  # something holds it back
        simulator.follow(self._towards(wanted[:-1] * REACH))
        simulator.command_gripper((wanted[-1] + 1.0) / 2.0 * MAX_GAP)
        simulator.step(PERIOD_S)
        verdict = self._referee.verdict
        reward, self._score = verdict.score - self._score, verdict.score
        if self._dense:
            before, self._distance = self._distance, self._apart()
            reward += before - self._distance
        ended = verdict.outcome in (Outcome.SUCCESS, Outcome.FAIL)
        return self._observe(), float(reward), ended, verdict.outcome is Outcome.TIMEOUT, self._info()

    def render(self) -> Any:
        """The camera's colour image (height, width, 3)."""
        return self._pictures()[0] if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Put the table away."""
        self._simulator.close()
        self._referee = None

    # --- motion ---------------------------------------------------------------------------------------------

    def _plan_from_arm(self) -> None:
        """Let the next trajectory begin where the arm is, at the velocity that it has, as far as allowed."""
        state = self._simulator.state()
        self._input.current_position = list(np.clip(state.position, self._lower, self._upper))
        self._input.current_velocity = list(np.clip(state.velocity, -self._fastest, self._fastest))
        self._input.current_acceleration = [0.0] * self._joints

    def _towards(self, change: np.ndarray) -> JointTrajectory:
        """The jerk-limited trajectory of this step; the next one goes on from its end."""
        target = np.clip(np.array(self._input.current_position) + change, self._lower, self._upper)
        self._input.target_position = list(target)
        self._input.target_velocity = self._input.target_acceleration = [0.0] * self._joints
        whole = Trajectory(self._joints)
        self._generator.calculate(self._input, whole)
        times = np.linspace(0.0, PERIOD_S, _POINTS)
        states = [whole.at_time(time) for time in times]
        position, velocity, acceleration = states[-1][:3]
        self._input.current_position, self._input.current_velocity = position, velocity
        self._input.current_acceleration = acceleration
        return JointTrajectory(times, np.array([s[0] for s in states]), np.array([s[1] for s in states]))

    # --- what is told ---------------------------------------------------------------------------------------

    def _apart(self) -> float:
        """The mean distance of the pairs that must touch, between their centres, in metres."""
        apart = [np.linalg.norm(self._where(a) - self._where(b)) for a, b in self._pairs]
        return float(np.mean(apart)) if apart else 0.0

    def _where(self, model: str) -> np.ndarray:
        if model != COBOT:
            return np.array(self._simulator.object_pose(model).position)
        state = self._simulator.state()
        return self._tools.tool(np.asarray(state.position), min(max(state.gripper_gap, 0.0), MAX_GAP))[:3, 3]

    def _observe(self) -> Any:
        state = self._simulator.state()
        if not self._state_only:
            colour, depth = self._pictures()
            joints, gap = np.asarray(state.position, np.float32), np.array([state.gripper_gap], np.float32)
            return {"colour": colour, "depth": depth, "joints": joints, "gripper": gap}
        poses = np.zeros((len(self._world.objects), 7))
        for row, item in zip(poses, self._world.objects, strict=True):
            if item.model in self._laid:
                pose = self._simulator.object_pose(item.model)
                row[:] = *pose.position, *pose.quaternion
        arm = [*state.position, *state.velocity, state.gripper_gap]
        return np.concatenate([arm, poses.ravel()]).astype(np.float32)

    def _pictures(self) -> tuple[np.ndarray, np.ndarray]:
        """Colour and depth in the size that was asked for."""
        frame = self._simulator.capture()
        colour, depth = frame.colour, np.nan_to_num(frame.depth, nan=0.0)
        if colour.shape[:2] == tuple(self._size):
            return colour, depth
        size = self._size[::-1]
        smaller = cv2.resize(colour, size, interpolation=cv2.INTER_AREA)
        nearest = cv2.resize(depth, size, interpolation=cv2.INTER_NEAREST)
        return np.asarray(smaller, np.uint8), np.asarray(nearest)

    def _info(self) -> dict[str, Any]:
        assert self._referee is not None
        verdict = self._referee.verdict
        return {"outcome": verdict.outcome.value, "score": verdict.score, "reason": verdict.reason}


def side_by_side(num_envs: int, max_episode_steps: int | None = None, **options: Any) -> AsyncVectorEnv:
    """Return as many environments in a process each; `options` as `TabletopEnv` takes them.

    All are forked off one that has its table: what is read, compiled and drawn once, they share.
    """
    ready = TabletopEnv(**options)
    ready._lay(ready._preset, 0)  # `reset` would give all of them the same random numbers
    ready._observe()
    limited = TimeLimit(ready, max_episode_steps) if max_episode_steps else ready
    return AsyncVectorEnv([lambda: limited] * num_envs, context="fork")


for _level in list_levels():
    register(
        f"spca/Tabletop-{_level}-v1",
        f"{__name__}:TabletopEnv",
        vector_entry_point=f"{__name__}:side_by_side",
        kwargs={"level": _level},
    )
