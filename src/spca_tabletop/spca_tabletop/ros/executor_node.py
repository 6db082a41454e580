"""The node `executor`: plans in, motion out. It owns the arm, and the sandbox in which skills run."""

from __future__ import annotations

import os
import threading
from array import array
from pathlib import Path
from typing import Any

from geometry_msgs.msg import PoseArray
from spca_interfaces.action import ExecutePlan, Look, Perceive
from spca_interfaces.msg import ActResult as ActResultMsg
from spca_interfaces.msg import Scene as SceneMsg
from spca_interfaces.msg import StepReport as StepReportMsg
from spca_interfaces.msg import Verdict as VerdictMsg
from spca_interfaces.srv import Checkpoint, Restore
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from spca_act.executor import PlanExecutor
from spca_core.checkpoint import pack, unpack
from spca_core.errors import InputError, MotionError, SpcaError
from spca_core.plan import Plan
from spca_core.ports.arm import Arm
from spca_core.ports.robot import Robot
from spca_core.processes.leaving import leave
from spca_core.scene import CHECKPOINT_KINDS, Scene
from spca_core.skill import StepReport
from spca_core.skill_package import library_source
from spca_core.world import World, load_world
from spca_description.moveit_config import PIPELINES
from spca_description.names import SOURCES
from spca_motion.execution import Tolerances
from spca_robot.gripper_2f85 import PAD_TIP
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.calls import ActionCall
from spca_ros.convert.records import WORLD_FRAME, from_msg, pose_msg, to_msg
from spca_ros.convert.robot import joint_state_msg, trajectory_msg
from spca_ros.driver import ControlDriver, Driver, SpcaDriver
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, answering, background
from spca_ros.peer import Peer, serve_supervisor
from spca_ros.qos import STATE
from spca_ros.robot import RosRobot
from spca_ros.watch import Watch
from spca_tabletop.act import skills
from spca_tabletop.act.ctx import FRESH, TABLETOP_API, TabletopCtx


class ExecutorNode(SpcaNode):
    """Looks and executes plans, one at a time.

    The arm stops on request, when a goal is cancelled, when the referee's verdict is a failure, and
    when the supervisor or the referee is lost: at the latest when it has seen nothing of a motion for the
    times in `spca_ros.watch`. (When this node is lost, the arm's driver hears nothing more from it and
    holds.)
    """

    def __init__(self, loop: Loop | None = None) -> None:
        super().__init__(names.EXECUTOR, loop)
        world = load_world(self.parameter("world", "tabletop", "a world in worlds/ or a path"))
        kind = self.parameter("arm", "embedded", "who plans motions", choices=ARMS)
        lag = self.parameter(
            "tracking_lag",
            Tolerances().lag,
            "simulated seconds that the arm may be behind its path",
            low=0.0,
            high=5.0,
        )
        source = self.parameter("robot", "generated", "the robot that MoveIt plans with", choices=SOURCES)
        pipeline = self.parameter(
            "pipeline", "ompl", "which of MoveIt's planning pipelines searches", choices=tuple(PIPELINES)
        )
        self._watch = Watch(self, names.SUPERVISOR, self._stop_arm, always=(names.REFEREE,))
        self._joints = world.robot.arm.joint_names
        self._robot = RosRobot(self, self._joints, driver=self._driver())
        self._arm = _arm(kind, world, self._robot, Tolerances(lag=lag), source, pipeline)
        self._ctx = TabletopCtx(world, self._arm, self._perceive, self._robot.now, PAD_TIP)
        self._executor = PlanExecutor(TABLETOP_API, builtin=library_source("tabletop", Path(skills.__file__)))
        grasps = self.create_publisher(PoseArray, names.GRASPS, STATE)
        trajectories = self.create_publisher(JointTrajectoryMsg, names.TRAJECTORY, STATE)
        self._ctx.on_grasps = lambda poses: grasps.publish(
            PoseArray(header=Header(frame_id=WORLD_FRAME), poses=[pose_msg(pose) for pose in poses])
        )
        self._robot.on_follow = lambda path: trajectories.publish(trajectory_msg(path, self._joints))
        self._sense = ActionCall(self, Perceive, names.PERCEIVE, Peer(self, names.SENSE))
        self._supervisor = Peer(self, names.SUPERVISOR, on_lost=self._stop_arm)
        self._job: Job | None = None
        self._task: list[Any] = []
        self._epoch, self._decided, self._failed = "", False, False
        self._memory: tuple[Any, str | None] | None = None  # to recall before the next job
        self._stop = threading.Event()
        background(self._stopper)

        self.create_subscription(VerdictMsg, names.VERDICT, self._on_verdict, STATE)
        self.create_service(Trigger, names.STOP, self._on_stop)
        self.create_service(Checkpoint, names.checkpoint(names.EXECUTOR), self._checkpoint)
        self.create_service(Restore, names.restore(names.EXECUTOR), self._restore)
        self._actions = (
            LongAction(self, Look, names.LOOK, self._look, self._stop_arm),
            LongAction(self, ExecutePlan, names.EXECUTE, self._execute, self._stop_arm),
        )

    def close(self) -> None:
        """Stop the arm, end what runs, end the sandbox."""
        self._robot.hold()
        self._stop_arm()
        for action in self._actions:
            action.close()
        self._executor.close()

    def _driver(self) -> Driver:
        kind = self.parameter(
            "driver", "spca", "who drives the arm: the simulator's node, or controllers", choices=DRIVERS
        )
        arm = self.parameter(
            "arm_controller",
            "scaled_joint_trajectory_controller",
            "serves control_msgs/FollowJointTrajectory",
        )
        gripper = self.parameter(
            "gripper_controller", "robotiq_gripper_controller", "serves control_msgs/GripperCommand"
        )
        if kind == "ros2_control":
            return ControlDriver(self, self._joints, arm, gripper)
        return SpcaDriver(self, self._joints, self._watch)

    # --- jobs, each in a thread of its own ------------------------------------------------------------------

    def _look(self, job: Job) -> Look.Result:
        job.feedback(Look.Feedback(attempt=job.goal.attempt, stage="looking"))
        try:
            self._begin(job)
            self._task = list(job.goal.task)
            return Look.Result(scene=to_msg(self._ctx.survey(), SceneMsg()))
        except MotionError as error:
            return Look.Result(error_kind=error.kind, message=str(error))
        except SpcaError as error:
            return Look.Result(error_kind="error", message=str(error))
        finally:
            self._watch.end()
            self._task = []

    def _execute(self, job: Job) -> ExecutePlan.Result:
        goal = job.goal

        def on_step(step: StepReport) -> None:
            job.feedback(ExecutePlan.Feedback(attempt=goal.attempt, step=to_msg(step, StepReportMsg())))

        def cancelled() -> bool:
            return job.cancelled() or self._failed or self._supervisor.lost or self._watch.lost

        try:
            self._begin(job)
            plan = from_msg(Plan, goal.plan)
            result = self._executor.execute(
                goal.attempt, plan, goal.library, self._ctx, on_step, cancelled, lambda: self._decided
            )
        except SpcaError as error:
            return ExecutePlan.Result(error=str(error))
        finally:
            self._watch.end()
        return ExecutePlan.Result(result=to_msg(result, ActResultMsg()))

    def _begin(self, job: Job) -> None:
        self._job = job
        self._watch.begin()
        self._robot.attempt = job.goal.attempt
        if self._memory is not None:
            (memory, held), self._memory = self._memory, None
            self._robot.wait_news()
            self._ctx.recall(memory, held)
        self._arm.resume()

    def _perceive(self) -> Scene:
        goal = Perceive.Goal(
            attempt=self._robot.attempt,
            held=self._arm.held or "",
            tool=[pose_msg(self._arm.tool_pose())],
            joints=[joint_state_msg(self._arm.state(), self._joints)],
            task=self._task,
        )
        job = self._job
        result = self._sense(goal, cancelled=job.cancelled if job is not None else lambda: False)
        if result.error:
            raise SpcaError(result.error)
        return from_msg(Scene, result.scene)

    # --- stopping -------------------------------------------------------------------------------------------

    def _stop_arm(self) -> None:
        self._stop.set()

    def _stopper(self) -> None:
        """Stops the arm on request.

        It has a thread of its own, because callbacks must not wait for the arm's lock.
        """
        while True:
            self._stop.wait()
            self._stop.clear()
            self._arm.stop()

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        for action in self._actions:
            action.cancel()
        self._stop_arm()
        response.success = True
        return response

    def _on_verdict(self, verdict: VerdictMsg) -> None:
        if verdict.epoch != self._epoch:
            return
        self._decided = verdict.outcome != VerdictMsg.RUNNING
        self._failed = verdict.outcome in (VerdictMsg.FAIL, VerdictMsg.TIMEOUT)
        if self._failed:
            self._stop_arm()

    # --- state ----------------------------------------------------------------------------------------------

    def _checkpoint(self, _: Checkpoint.Request, response: Checkpoint.Response) -> Checkpoint.Response:
        with answering(response):
            response.state = array("B", pack(self._memory or (self._ctx.memory, self._arm.held)))
        return response

    def _restore(self, request: Restore.Request, response: Restore.Response) -> Restore.Response:
        with answering(response):
            if any(action.busy for action in self._actions):
                raise SpcaError("the executor is busy")
            self._memory = unpack(bytes(request.state), CHECKPOINT_KINDS) if request.state else (FRESH, None)
            self._epoch, self._decided, self._failed = request.epoch, False, False
        return response


ARMS = ("embedded", "moveit")
DRIVERS = ("spca", "ros2_control")


def _arm(kind: str, world: World, robot: Robot, tolerances: Tolerances, source: str, pipeline: str) -> Arm:
    if kind == "embedded":
        from spca_motion.manipulator import embedded_arm

        return embedded_arm(world, robot, tolerances=tolerances)
    if kind == "moveit":
        from spca_moveit.arm import moveit_arm
        from spca_moveit.backend import Setup
        from spca_moveit.process import PlannerProcess

        logs = os.environ.get("ROS_LOG_DIR")
        log = Path(logs) / "moveit.log" if logs else None
        setup = Setup(world, source, pipeline)
        return moveit_arm(world, robot, PlannerProcess(setup, log=log), tolerances=tolerances)
    raise InputError(f"unknown arm '{kind}'", where="parameter arm", hint="embedded or moveit")


def main() -> None:
    """Run the node; its exit status is the process's."""
    leave(serve_supervisor(lambda: [ExecutorNode()]))


if __name__ == "__main__":
    main()
