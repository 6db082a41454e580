"""The port `TableWorld` over ROS: one client for the embedded simulator as a node, Gazebo and a real cell."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter
from rclpy.subscription import Subscription
from sensor_msgs.msg import MultiDOFJointState
from spca_interfaces.msg import Contacts
from spca_interfaces.msg import Layout as LayoutMsg
from spca_interfaces.srv import ResetWorld, SaveRecording
from std_srvs.srv import Trigger

from spca_core.contacts import SAMPLE_PERIOD, ContactSample
from spca_core.errors import InputError, Lost, MotionError, Unsupported
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.ports.table import Camera, TableWorld
from spca_core.world import World
from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.camera import RequestedCamera
from spca_ros.convert.contacts import contact_samples, places
from spca_ros.convert.records import seconds, to_msg
from spca_ros.driver import ControlDriver, Driver
from spca_ros.node import SpcaNode
from spca_ros.qos import EVERY
from spca_ros.robot import RosRobot

_LATE_S = 2.5 * SAMPLE_PERIOD  # by which contacts may be behind the clock
_AHEAD_S = 0.5  # by which they may be ahead of it: joint states may be told later
_BRAKING_S = 0.3
_PATIENCE_S = 5.0  # wall seconds for what ought to come at once
_SLOW_S = 60.0  # wall seconds for what Gazebo takes its time for
_AGAIN_S = 1.0  # wall seconds after which a request that changes nothing twice is sent once more
_KEPT = 1000  # samples whose places are known, at most


class RosWorld(TableWorld):
    """See `spca_core.ports.table.TableWorld`. Its calls block: they are not for callbacks.

    Contacts are handed on in the thread that lets time pass, in their order, before it goes on.

    Args:
        node: what the world is spoken to by, in whose turning thread this is made: rclpy may crash else.
        world: the description of robot, camera and things.
        driver: who drives the arm; the simulator's node by default.
        camera: where pictures come from; the simulator's node by default.
        varied: parameters of the simulator's node, set before a reset (see docs/ros-interfaces.md).
        standing: the table is taken as it is, as a real one always is.
    """

    robot: RosRobot

    def __init__(
        self,
        node: SpcaNode,
        world: World,
        driver: Driver | None = None,
        camera: Camera | None = None,
        varied: Mapping[str, Any] | None = None,
        standing: bool = False,
    ) -> None:
        self._node, self._varied, self._standing = node, dict(varied or {}), standing
        before = {*node.subscriptions, *node.clients}
        self.robot = RosRobot(node, world.robot.arm.joint_names, driver=driver)
        self.robot.on_passed = self._passed
        self.camera = camera or RequestedCamera(node, world.camera)
        if world.wrist_camera and isinstance(self.camera, RequestedCamera):
            self.wrist_camera = RequestedCamera(node, world.wrist_camera, at=names.WRIST)
        elif world.wrist_camera:
            node.get_logger().warning("the wrist camera is not used: only the simulator has a topic for it")
        self._real = isinstance(driver, ControlDriver)
        self._news = threading.Condition()
        self._waiting: deque[ContactSample] = deque()
        self._heard = 0.0  # stamp of the newest sample
        self._places: dict[float, dict[str, Pose]] = {}
        self._now: dict[str, Pose] = {}  # at the sample that is handed on
        self._listeners: list[Callable[[ContactSample], None]] = []
        self._reset = ServiceCall(node, ResetWorld, names.RESET)
        self._set = ServiceCall(node, SetParameters, f"{names.SIM}/set_parameters")
        self._world_there = asker_of_world(node)
        self._save = ServiceCall(node, SaveRecording, names.SAVE_RECORDING)
        self._hold = ServiceCall(node, Trigger, names.HOLD)
        node.create_subscription(Contacts, names.CONTACTS, self._on_contacts, EVERY)
        node.create_subscription(MultiDOFJointState, names.PLACES, self._on_places, EVERY)
        self._own = {*node.subscriptions, *node.clients} - before

    def wait_ready(self, timeout: float, check: Callable[[], None] = lambda: None) -> None:
        """Wait until the world answers; `check` is called meanwhile, and may raise.

        Raises NodeLost when it does not within `timeout` wall seconds. The arm then stands: a motion of
        somebody who is gone is over.
        """
        end = time.monotonic() + timeout
        self.robot.wait_ready(timeout, check)
        check()  # it may have been ready at once
        if self._real:
            return
        self._hold(Trigger.Request(), max(_PATIENCE_S, end - time.monotonic()), check, again=_AGAIN_S)
        self._save.wait_ready(_PATIENCE_S)

    def on_contacts(self, listener: Callable[[ContactSample], None]) -> Callable[[], None]:
        """See `TableWorld`. A real cell tells nobody; samples from before may still be under way."""
        began = self.now()

        def told(sample: ContactSample) -> None:
            if sample.stamp >= began:
                listener(sample)

        self._listeners.append(told)
        return lambda: self._listeners.remove(told) if told in self._listeners else None

    def places(self, models: Iterable[str]) -> Mapping[str, Pose]:
        """See `TableWorld`. At the sample that a listener is told, where the simulator is asked to tell."""
        if not self._varied.get("places") or self._real:
            raise Unsupported("nobody tells where things are")
        if (wanted := list(models)) and not self._now:
            self.wait(SAMPLE_PERIOD)
        return {model: self._now[model] for model in wanted}

    def reset(self, layout: Layout, seed: int = 0) -> None:
        """See `TableWorld`. The arm is driven home, and the clock may go on or begin anew."""
        if self._standing and "places" in self._varied:
            self._vary({"places": self._varied["places"]})
        if self._real or self._standing:
            raise Unsupported("a table that is taken as it is")
        self._vary(self._varied)
        laid = to_msg(layout, LayoutMsg())
        request = ResetWorld.Request(client=self._node.get_name(), layout=laid, seed=seed)
        answer = _expect(self._reset(request, timeout=_SLOW_S))
        with self._news:
            self._waiting.clear()
            self._places.clear()
            self._now = {}
            self._heard = seconds(answer.stamp)
        self.robot.wait_news()
        self.record_afresh()

    def record_afresh(self) -> None:
        """See `TableWorld`."""
        if not self._real:
            _expect(self._save(SaveRecording.Request(), timeout=_PATIENCE_S))

    def save_recording(self, folder: Path) -> None:
        """See `TableWorld`. What a simulator that is lost had recorded is lost; that is no error."""
        if not self._real:
            try:
                self._save(SaveRecording.Request(folder=str(folder.absolute())), timeout=_PATIENCE_S)
            except Lost as error:
                self._node.get_logger().warning(f"no recording: {error}")

    def rest(self) -> None:
        """Stop the arm, and let as much time pass as that takes; one without a driver stands."""
        self.robot.hold()
        with suppress(Lost, MotionError):
            self.robot.wait(_BRAKING_S)

    def close(self) -> None:
        """See `TableWorld`. The node stays, and has to be spun still."""
        self._listeners.clear()
        own, self._own = self._own, set()
        if own:
            self._node.loop.run(lambda: self._part(own))

    def _part(self, own: set[Any]) -> None:
        """Take what belongs to this world off the node, in the turning thread; clients of actions stay."""
        for each in own:
            if isinstance(each, Subscription):
                self._node.destroy_subscription(each)
            else:
                self._node.destroy_client(each)

    def _vary(self, values: Mapping[str, Any]) -> None:
        """Have the simulator rebuilt at the next reset, with the light, friction and so on asked for."""
        parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        answer = self._set(SetParameters.Request(parameters=parameters), _SLOW_S, again=_AGAIN_S)
        for (name, value), result in zip(values.items(), answer.results, strict=True):
            if result.successful:
                continue
            if name == "places" and value:
                hint = "the simulator on the graph does not tell where things are"
                raise InputError("the level is judged by places", hint=hint)
            if name == "world" and (has := self._world_there(_SLOW_S)) != value:
                raise InputError(f"the simulator has the world '{has}', not '{value}'")
            if name != "world" and "undeclared" not in result.reason:  # Gazebo's node varies nothing
                raise InputError(f"--{name} {value}", hint=result.reason)

    def _passed(self, now: float) -> None:
        """Hand on the contacts up to now, each with where things were."""
        if self._real:
            return
        with self._news:
            if not self._news.wait_for(lambda: self._heard >= now - _LATE_S, _PATIENCE_S):
                silence = f"{now - self._heard:.1f} s of the world's time"
                raise MotionError("stale", f"no contacts have come for {silence}")
        while True:
            with self._news:
                if not self._waiting or not self._known(self._waiting[0]):
                    return
                sample = self._waiting.popleft()
                self._now = self._places.pop(sample.stamp, {})
            if self._varied.get("places") and not self._now:
                raise MotionError("stale", "the simulator does not tell where things are")
            for listener in tuple(self._listeners):
                listener(sample)

    def _known(self, sample: ContactSample) -> bool:
        """Return whether it is known where things were at a sample; wait for that if it is told at all."""
        if not self._varied.get("places"):
            return True
        return self._news.wait_for(lambda: sample.stamp in self._places, _PATIENCE_S)

    def _on_contacts(self, message: Contacts) -> None:
        newest = self.robot.newest
        for sample in contact_samples(message):
            if newest is None or sample.stamp > newest + _AHEAD_S:
                raise ValueError("contacts of the future")  # dropped with a warning, see SpcaNode
            with self._news:
                if sample.stamp > self._heard:  # else of the world before a reset, or from a stranger
                    self._heard = sample.stamp
                    self._waiting.append(sample)
                    self._news.notify_all()

    def _on_places(self, message: MultiDOFJointState) -> None:
        with self._news:
            if len(self._places) < _KEPT:
                self._places[seconds(message.header.stamp)] = places(message)
                self._news.notify_all()


def asker_of_world(node: SpcaNode) -> Callable[[float], str]:
    """Return a function that asks the simulator which world it has, for so many wall seconds."""
    ask = ServiceCall(node, GetParameters, f"{names.SIM}/get_parameters")
    wanted = GetParameters.Request(names=["world"])
    return lambda seconds: str(ask(wanted, seconds, again=_AGAIN_S).values[0].string_value)


def _expect(answer: Any) -> Any:
    if not answer.success:
        raise Lost(answer.message)
    return answer
