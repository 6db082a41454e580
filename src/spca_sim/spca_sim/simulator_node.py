"""The node `sim`, whichever simulator stands behind it: whose world it is, and its motions until they end."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState as JointStateMsg
from sensor_msgs.msg import MultiDOFJointState
from spca_interfaces.action import CommandGripper, FollowTrajectory
from spca_interfaces.msg import Contacts
from spca_interfaces.srv import SaveRecording
from std_srvs.srv import Trigger

from spca_core.contacts import ContactSample
from spca_core.errors import InputError, SpcaError
from spca_core.geometry import Pose
from spca_core.trajectory import JointState, JointTrajectory
from spca_robot.gripper_2f85 import SPEED
from spca_ros import names
from spca_ros.action_server import Job, LongAction
from spca_ros.convert.contacts import contacts_msg, places_msg
from spca_ros.convert.records import time_msg
from spca_ros.convert.robot import trajectory
from spca_ros.node import SpcaNode, answering
from spca_ros.qos import EVERY, SENSOR

_SILENT_S = 20.0  # wall seconds without a wish for time after which a motion's client counts as lost
_TICK_S = 0.1  # wall seconds between two looks at a motion, and two messages on it
_SLOWER, _REST_S = 1.5, 0.5  # of the pads' travel: times as long as at their speed, and simulated s to rest


class SimulatorNode(SpcaNode, ABC):
    """A node with a simulated world, which belongs to one other node at a time: who has laid its table.

    A newer motion of the arm, or of the pads, takes the place of an older one.
    """

    recorder: Any
    """What records the world: it can `save_recording` and `record_afresh`."""

    def __init__(self) -> None:
        super().__init__(names.SIM)
        self._client = ""
        self._joints: tuple[str, ...] = ()
        self._now = 0.0  # simulated s
        self._state: JointState | None = None  # that was published last, or will be next
        self._asked = 0.0  # wall time (monotonic) of the newest wish for time
        self.parameter("places", False, "whether the referee is told where things are", live=True)
        self._time = self.create_publisher(Clock, "/clock", SENSOR)
        self._states = self.create_publisher(JointStateMsg, names.JOINT_STATES, SENSOR)
        self._contacts = self.create_publisher(Contacts, names.CONTACTS, EVERY)
        self._places = self.create_publisher(MultiDOFJointState, names.PLACES, EVERY)
        self.create_service(SaveRecording, names.SAVE_RECORDING, self._save)
        self.create_service(Trigger, names.HOLD, self._hold)
        follow, refuse = (self._do_follow, self.brake), self._refusal
        self._follow = LongAction(self, FollowTrajectory, names.FOLLOW, *follow, refuse=refuse)
        self._grip = LongAction(self, CommandGripper, names.GRIPPER, self._do_grip, refuse=refuse)

    @property
    def needed(self) -> bool:
        """The node that has the world is on the graph."""
        return bool(self._client) and self._client in self.get_node_names()

    def admit(self, client: str) -> None:
        """Raise SpcaError if the world belongs to another node, which is on the graph."""
        if client != self._client and self.needed:
            raise SpcaError(f"the node '{self._client}' has the world")

    def change(self, client: str) -> None:
        """Give the world to the node of that name; motions under way end. Raises what `admit` does."""
        self.admit(client)
        self._client = client
        self._follow.cancel()
        self._grip.cancel()

    @abstractmethod
    def follow(self, path: JointTrajectory) -> None:
        """Begin a trajectory. Raises SpcaError or ValueError for one that cannot be."""

    def hand_over(self, path: JointTrajectory) -> None:
        """Do the slow part of beginning a trajectory, in a working thread. Raises SpcaError to refuse it."""

    @abstractmethod
    def command_gripper(self, gap: float) -> None:
        """Drive the pads to a gap (m). Raises SpcaError or ValueError if it is out of range."""

    @abstractmethod
    def brake(self) -> None:
        """Stop the arm."""

    def tell_contacts(self, sample: ContactSample, places: Callable[[], Mapping[str, Pose]]) -> None:
        """Publish a sample of contacts, and the `places` of things at it where they are to be told."""
        if self.get_parameter("places").value:
            self._places.publish(places_msg(sample.stamp, places()))
        self._contacts.publish(contacts_msg([sample]))

    def _refusal(self, goal: Any) -> str:
        """Begin what a goal asks for; explain why not, if the world is another node's or it is impossible."""
        try:
            self.admit(goal.client)
            if self._state is None:
                raise SpcaError("no joint state has come yet")
            if isinstance(goal, FollowTrajectory.Goal):
                self.follow(trajectory(goal.trajectory, self._joints))
            else:
                self.command_gripper(goal.gap)
        except (SpcaError, ValueError, ArithmeticError, LookupError, TypeError) as error:
            return str(error)
        return ""

    def _do_follow(self, job: Job) -> FollowTrajectory.Result:
        result, path = FollowTrajectory.Result, trajectory(job.goal.trajectory, self._joints)
        try:
            self.hand_over(path)
        except SpcaError as error:
            return result(status=result.REFUSED, message=str(error))
        begun, self._asked = self._now, time.monotonic()
        while self._now - begun < path.duration:
            if job.replaced:
                return result(status=result.REPLACED)
            if job.cancelled():
                return result(status=result.HELD)
            if (silence := time.monotonic() - self._asked) > _SILENT_S:
                self.loop.run(self.brake)  # whoever comes next must not find a motion that goes on
                return result(status=result.STALE, message=f"nobody has let time pass for {silence:.0f} s")
            job.feedback(FollowTrajectory.Feedback(attempt=job.goal.attempt, begun=time_msg(begun)))
            time.sleep(_TICK_S)
        return result(status=result.DONE)

    def _do_grip(self, job: Job) -> CommandGripper.Result:
        result, state, begun = CommandGripper.Result, self._state, self._now
        assert state is not None  # see _refusal
        duration = _SLOWER * abs(job.goal.gap - state.gripper_gap) / SPEED + _REST_S
        job.feedback(CommandGripper.Feedback(attempt=job.goal.attempt, gap=state.gripper_gap))
        while self._now - begun < duration and not job.replaced and not job.cancelled():
            time.sleep(_TICK_S)
        state = self._state or state
        status = result.REPLACED if job.replaced else result.DONE
        return result(status=status, gap=state.gripper_gap, force=state.gripper_force)

    def _hold(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._follow.cancel()
        self.brake()
        response.success = True
        return response

    def _save(self, request: Any, response: Any) -> Any:
        """Answer the service that saves what was recorded, where a folder is named, and records afresh."""
        with answering(response):
            if request.folder:
                if not (folder := Path(request.folder)).is_absolute() or not folder.is_dir():
                    raise InputError("no such folder", where=request.folder)
                self.recorder.save_recording(folder)
            self.recorder.record_afresh()
        return response
