"""The `Arm` that plans with MoveIt 2 and moves whatever stands behind the `Robot` port."""

from __future__ import annotations

import threading

import numpy as np

from spca_core.errors import MotionError
from spca_core.geometry import Array
from spca_core.ports.robot import Robot
from spca_core.scene import Scene
from spca_core.trajectory import JointTrajectory
from spca_core.world import World
from spca_motion.embedded_arm import EmbeddedArm
from spca_motion.execution import Executor, StopGate, Tolerances
from spca_motion.gripper import Gripper
from spca_motion.limits import EMPTY, HOLDING, MotionLimits
from spca_motion.query import Start
from spca_moveit.planner import MoveItPlanner
from spca_moveit.process import PlannerProcess
from spca_robot.ur5 import VELOCITY_LIMITS

VELOCITY_SCALING = 0.3
"""Share of the joints' speed limits that is used unless told otherwise."""


class SceneGate(StopGate):
    """A stop gate that also closes for the motion under way when a new obstacle stands in its path."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self._blocked = ""
        self._followed: tuple[JointTrajectory, float] | None = None

    @property
    def stopped(self) -> bool:
        """Whether the motion under way must end."""
        return super().stopped or bool(self._blocked)

    def check(self) -> None:
        """Raise MotionError: `cancelled` if stopped, `collision` if the path has become blocked."""
        if not super().stopped and self._blocked:
            raise MotionError("collision", self._blocked)
        super().check()

    def block(self, reason: str) -> None:
        """End the motion under way because of `reason`, now."""
        with self._lock:
            if self._followed is not None:
                self._blocked = reason
                self._robot.hold()

    def follow(self, trajectory: JointTrajectory) -> None:
        """Begin a trajectory, unless stopped."""
        with self._lock:
            self._followed = trajectory, self._robot.now()
            super().follow(trajectory)

    def ended(self) -> None:
        """The motion is over, however it ended."""
        with self._lock:
            self._followed, self._blocked = None, ""

    def ahead(self) -> Array:
        """The postures (n, 6) of the motion under way that are still to come; none if nothing moves."""
        with self._lock:
            if self._followed is None:
                return np.empty((0, 6))
            trajectory, begun = self._followed
            return trajectory.positions[trajectory.times >= self._robot.now() - begun]


class _SceneExecutor(Executor):
    """Tells the gate when a motion has ended."""

    def __init__(self, robot: Robot, gate: SceneGate, tolerances: Tolerances | None) -> None:
        super().__init__(robot, gate, tolerances)
        self._scene_gate = gate

    def run(self, trajectory: JointTrajectory) -> None:
        try:
            super().run(trajectory)
        finally:
            self._scene_gate.ended()


class MoveItArm(EmbeddedArm):
    """See `spca_core.ports.arm.Arm` and `EmbeddedArm`, whose conventions and checks are the same.

    `set_scene` may be called while the arm moves: if the rest of its path is not free any more, the motion ends with
    MotionError('collision').
    """

    def __init__(
        self,
        world: World,
        robot: Robot,
        process: PlannerProcess,
        scaling: float = VELOCITY_SCALING,
        tolerances: Tolerances | None = None,
    ) -> None:
        """`scaling` in (0, 1] is the share of the joints' speed limits that `speed=1` means."""
        super().__init__(world, robot, scaled(EMPTY, scaling), scaled(HOLDING, scaling), tolerances)
        self._scene_gate = SceneGate(robot)
        self._gate = self._scene_gate
        self._executor = _SceneExecutor(robot, self._scene_gate, tolerances)
        self._gripper = Gripper(robot, self._gate, self._executor.fresh_state)
        self._process = process
        self._scene_planner = MoveItPlanner(world, process)
        self._planner = self._scene_planner
        self._watching = threading.Lock()

    def set_scene(self, scene: Scene) -> None:
        """The obstacles from now on, also for a motion that is under way."""
        with self._watching:
            ahead = self._scene_gate.ahead()
            if len(ahead):
                self._check_ahead(scene, ahead)
        super().set_scene(scene)

    def close_planner(self) -> None:
        """End the planning process."""
        self._process.close()

    def _check_ahead(self, scene: Scene, ahead: Array) -> None:
        planner = self._scene_planner
        before = planner.scene
        planner.scene = before.perceived(scene)
        try:
            state = self._robot.state()
            gap = min(max(state.gripper_gap, 0.0), 0.085)
            fault = planner.fault_ahead(Start(state.position, gap, self._allowed), ahead)
        finally:
            planner.scene = before
        if fault:
            self._scene_gate.block(f"the scene changed under the motion: {fault}")


def scaled(limits: MotionLimits, scaling: float) -> MotionLimits:
    """Limits whose joint speeds are at most `scaling` times what the joints can do; the rest in proportion.

    Raises MotionError('limit') for a scaling outside (0, 1].
    """
    if not 0.0 < scaling <= 1.0:
        raise MotionError("limit", f"velocity scaling must be in (0, 1], not {scaling}")
    velocity = np.minimum(limits.velocity, scaling * VELOCITY_LIMITS)
    share = float((velocity / limits.velocity).min())
    return MotionLimits(velocity, limits.acceleration * share, limits.jerk * share, limits.tool_speed * share)
