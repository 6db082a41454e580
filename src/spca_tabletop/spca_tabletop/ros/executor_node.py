"""The node `executor`: carries out plans. Its parameters say who drives the arm, and who plans motions."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geometry_msgs.msg import PoseArray
from spca_interfaces.action import ExecutePlan, Look
from spca_interfaces.msg import ActResult as ActResultMsg
from spca_interfaces.msg import Scene as SceneMsg
from spca_interfaces.msg import StepReport as StepReportMsg
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg

from spca_core.errors import MotionError, SpcaError
from spca_core.options import RunOptions
from spca_core.plan import Plan
from spca_core.ports.chat import VisionModel
from spca_core.ports.table import Camera, Robot
from spca_core.result import Verdict
from spca_core.scene import Scene
from spca_core.skill import StepReport
from spca_core.world import World
from spca_motion.execution import Tolerances
from spca_motion.limits import SLOWEST
from spca_motion.manipulator import Manipulator
from spca_referee.node import RefereeNode
from spca_robot.description.moveit_config import PIPELINES
from spca_robot.description.names import SOURCES
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.convert.records import WORLD_FRAME, from_msg, pose_msg, to_msg
from spca_ros.convert.robot import trajectory_msg
from spca_ros.driver import ControlDriver, SpcaDriver
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, background
from spca_ros.qos import STATE
from spca_ros.stages import RosSense
from spca_ros.world import RosWorld
from spca_sense.detection import make_detector
from spca_sense.node import Look as Perceive
from spca_sense.node import SenseNode
from spca_tabletop.environment import Tabletop
from spca_tabletop.presets import draw_table, load_table, variation_of, world_named


class RosTabletop(Tabletop[RosWorld]):
    """See `Tabletop`. `saw` and `considered` hear of each look, and of the grasps that skills are offered."""

    def __init__(
        self,
        *arguments: Any,
        saw: Callable[[Scene], None],
        considered: Callable[[PoseArray], None],
        elsewhere: Perceive | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._saw, self._elsewhere = saw, elsewhere
        if elsewhere is not None:  # it is shown one picture
            self._ctx.look_closer = None
        self._ctx.on_grasps = lambda poses: considered(
            PoseArray(header=Header(frame_id=WORLD_FRAME), poses=[pose_msg(pose) for pose in poses])
        )

    @property
    def judged(self) -> tuple[Verdict, bool]:
        """The verdict of the level that is under way, and whether waiting may make it a success."""
        return (self.shown, False) if self.shown else (self._referee.verdict, self._referee.holding)

    def look(self) -> Scene:
        """Move the arm out of view and look; what is seen is the scene to plan motions in."""
        self._arm.resume()
        return self._ctx.survey()

    def glance(self) -> Scene:
        """Take a picture and perceive, without moving anything."""
        return self._perceive()

    def _perceive(self) -> Scene:
        if self._elsewhere is None:
            scene = super()._perceive()
        else:
            frame = self.table.camera.capture()
            scene = self._elsewhere(self._arm.held, self._arm.tool_pose(), self._arm.state())
            self.looks.append((frame, scene))
        self._saw(scene)
        return scene


ARMS = ("embedded", "moveit")
DRIVERS = ("spca", "ros2_control")
_READY_S = 60.0


class ExecutorNode(SpcaNode):
    """Node that has the arm look, and plans carried out, by `table`, while nobody else is `using` that."""

    def __init__(self, loop: Loop | None = None) -> None:
        super().__init__(names.EXECUTOR, loop)
        self._kind = self.parameter("arm", "embedded", "who plans motions", choices=ARMS)
        about = "simulated seconds that the arm may be behind its path"
        self._lag = self.parameter("tracking_lag", Tolerances().lag, about, low=0.0, high=5.0)
        about = "the robot that MoveIt plans with"
        self._source = self.parameter("robot", "generated", about, choices=SOURCES)
        about = "which of MoveIt's planning pipelines searches"
        self._pipeline = self.parameter("pipeline", "ompl", about, choices=tuple(PIPELINES))
        about = "who drives the arm: the simulator's node, or controllers"
        self._driver = self.parameter("driver", "spca", about, choices=DRIVERS)
        usual = 0.3 if self._driver == "ros2_control" else 1.0
        share = "share of its full speed that the arm may have; a real one has 0.3 unless told"
        self._speed = self.parameter("speed", usual, share, low=SLOWEST, high=1.0)
        about = "serves control_msgs/FollowJointTrajectory"
        arm = self.parameter("arm_controller", "scaled_joint_trajectory_controller", about)
        about = "serves control_msgs/GripperCommand"
        self._controllers = arm, self.parameter("gripper_controller", "robotiq_gripper_controller", about)
        self.table: RosTabletop | None = None
        self._using = threading.Lock()
        self.grasps = self.create_publisher(PoseArray, names.GRASPS, STATE)
        self._trajectories = self.create_publisher(JointTrajectoryMsg, names.TRAJECTORY, STATE)
        self.create_service(Trigger, names.STOP, self._on_stop)
        self._actions = (
            LongAction(self, Look, names.LOOK, self._look, self._stop_arm),
            LongAction(self, ExecutePlan, names.EXECUTE, self._execute, self._stop_arm),
        )

    def world(self, world: World, camera: Camera, varied: Mapping[str, Any], standing: bool) -> RosWorld:
        """Return robot, camera and contacts on the graph, by the driver that the parameters name."""
        joints = world.robot.arm.joint_names
        own = self._driver != "ros2_control"
        driver = SpcaDriver(self, joints) if own else ControlDriver(self, joints, *self._controllers)
        found = RosWorld(self, world, driver, camera, varied, standing)
        found.robot.on_follow = lambda path: self._trajectories.publish(trajectory_msg(path, joints))
        return found

    def arm(self, world: World, robot: Robot) -> Manipulator:
        """Return the arm that the parameters name."""
        tolerances = Tolerances(lag=self._lag)
        if self._kind == "embedded":
            return Manipulator(world, robot, tolerances, self._speed)
        from spca_motion.moveit.process import PlannerProcess, Setup
        from spca_motion.moveit.search import moveit_arm

        logs = os.environ.get("ROS_LOG_DIR")
        log = Path(logs) / "moveit.log" if logs else None
        setup = Setup(world, self._source, self._pipeline)
        return moveit_arm(world, robot, PlannerProcess(setup, log=log), tolerances, self._speed)

    @contextmanager
    def using(self) -> Iterator[None]:
        """Keep the table for oneself as long as the context lasts. Raises SpcaError while another has it."""
        if not self._using.acquire(blocking=False):
            raise SpcaError("a run is under way")
        try:
            yield
        finally:
            self._using.release()

    def close(self) -> None:
        """Stop the arm, and end what runs."""
        self._stop_arm()
        super().close()

    # --- jobs, each in a thread of its own ------------------------------------------------------------------

    def _look(self, job: Job) -> Look.Result:
        job.feedback(Look.Feedback(attempt=job.goal.attempt, stage="looking"))
        try:
            with self.using():
                return Look.Result(scene=to_msg(self.standing().look(), SceneMsg()))
        except SpcaError as error:
            kind = error.kind if isinstance(error, MotionError) else "error"
            return Look.Result(error_kind=kind, message=str(error))

    def _execute(self, job: Job) -> ExecutePlan.Result:
        goal = job.goal

        def on_step(step: StepReport) -> None:
            job.feedback(ExecutePlan.Feedback(attempt=goal.attempt, step=to_msg(step, StepReportMsg())))

        with self.using():
            result = self.standing().act(goal.attempt, from_msg(Plan, goal.plan), goal.library, on_step)
        return ExecutePlan.Result(result=to_msg(result, ActResultMsg()))

    def standing(self) -> RosTabletop:
        """Return the table that is there. Raises SpcaError before the first run."""
        if self.table is None:
            raise SpcaError("no table has been laid: run a level first")
        return self.table

    def _stop_arm(self) -> None:
        if self.table is not None:
            background(self.table.cancel)  # a callback must not wait for the arm's lock

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        for action in self._actions:
            action.cancel()
        self._stop_arm()
        response.success = True
        return response


class TabletopRos:
    """See `spca_ros.stages.RosSide`."""

    def __init__(self, loop: Loop, sense: str = "") -> None:
        self._executor, self._referee, self._sense = ExecutorNode(loop), RefereeNode(loop), SenseNode(loop)
        self.nodes: Sequence[SpcaNode] = (self._sense, self._executor, self._referee)
        joints = self._sense.world.robot.arm.joint_names
        self._elsewhere = RosSense(self._sense, sense, joints) if sense else None
        self.using = self._executor.using
        self._sense.look = lambda held, tool, joints: self._glance()
        self._referee.judged = lambda: table.judged if (table := self._executor.table) else None

    def build(
        self, options: RunOptions, vision: VisionModel | None, check: Callable[[], None], anew: bool
    ) -> RosTabletop:
        """See `RosSide`."""
        world, level = load_table(options)
        layout, drawn = draw_table(options.preset, options.seed, world, level)
        varied = {
            "world": world_named(options, level),
            "preset": variation_of(options.preset),
            "seed": options.seed,
            "noise": options.noise,
            "disturbances": json.dumps([each.model_dump() for each in drawn.disturbances]),
            "places": level.needs_poses,
        }
        there = self._executor.loop.run(
            lambda: self._executor.world(world, self._sense.camera(world), varied, standing=not anew)
        )
        arm = self._executor.arm(world, there.robot)  # MoveIt starts while the simulator does
        there.wait_ready(_READY_S, check)
        self._executor.table = table = RosTabletop(
            *(level, world, layout, there, options.seed),
            arm=arm,
            vision=vision,
            detector=make_detector(options.detector, world),
            saw=self._sense.saw,
            considered=self._executor.grasps.publish,
            elsewhere=self._elsewhere,
        )
        there.on_contacts(lambda sample: self._referee.tell())
        return table

    def rest(self) -> None:
        """See `RosSide`."""
        self._executor.standing().table.rest()

    def part(self) -> None:
        """See `RosSide`."""
        if (table := self._executor.table) is not None:
            self._executor.table = None
            table.close()

    def _glance(self) -> Scene:
        with self._executor.using():
            return self._executor.standing().glance()
