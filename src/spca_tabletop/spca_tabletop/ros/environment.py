"""The tabletop as an `Environment` over ROS: simulator, Sense, executor and referee are nodes."""

from __future__ import annotations

import json
import time
import uuid
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from spca_interfaces.action import ExecutePlan, Look
from spca_interfaces.msg import Layout as LayoutMsg
from spca_interfaces.msg import Plan as PlanMsg
from spca_interfaces.msg import Task as TaskMsg
from spca_interfaces.msg import Verdict as VerdictMsg
from spca_interfaces.srv import BeginLevel, Checkpoint, Judge, ResetWorld, Restore, SaveRecording
from std_srvs.srv import SetBool, Trigger

from spca_core import seal
from spca_core.checkpoint import pack, unpack
from spca_core.contacts import SAMPLE_PERIOD
from spca_core.errors import InputError, MotionError, SpcaError
from spca_core.layout import Layout
from spca_core.observation import Observation
from spca_core.options import RunOptions
from spca_core.plan import ActResult, Plan
from spca_core.scene import Scene
from spca_core.skill import CtxApi, StepReport
from spca_core.task import Task
from spca_core.verdict import Verdict
from spca_referee.level import SETTLE_S, Level, task
from spca_ros import names
from spca_ros.calls import ActionCall, ServiceCall
from spca_ros.convert.contacts import sealed_verdict
from spca_ros.convert.records import from_msg, to_msg
from spca_ros.convert.time import seconds, time_msg
from spca_ros.kit import RosEnvironment
from spca_ros.node import SpcaNode
from spca_ros.peer import NodeLost, Peer
from spca_ros.qos import STATE
from spca_ros.robot import RosRobot
from spca_ros.watch import Watcher
from spca_sense.observation import observation_of
from spca_sim.variation import SimVariation
from spca_tabletop.act import skills
from spca_tabletop.act.ctx import TABLETOP_API
from spca_tabletop.presets import draw_table, load_table, variation_of

_NODES = (names.SIM, names.REFEREE, names.SENSE, names.EXECUTOR)
_RECORDERS = (names.SIM, names.REFEREE, names.SENSE)
_CHUNK_S = 0.1  # simulated seconds between two looks at the verdict
_SAMPLE_S = 1.05 * SAMPLE_PERIOD
_READY_S = 60.0  # wall seconds for the nodes to come up
_POLL_S = 0.01  # wall seconds between two questions
_PATIENCE_S = 10.0  # wall seconds for an answer that ought to come at once
_SLOW_S = 60.0  # wall seconds for what Gazebo is asked through its command line


@dataclass(frozen=True)
class _Order:
    """The settings that a level is started with."""

    options: RunOptions
    level: Level
    layout: Layout


class RosTabletop(RosEnvironment):
    """See `spca_core.ports.environment.Environment`. Its calls block: not for callbacks.

    `begin` comes first, once for each level. Where the simulator cannot give exact checkpoints (Gazebo),
    going back means to restart the level.
    """

    name = "tabletop"
    api: CtxApi = TABLETOP_API
    builtin_skills = Path(skills.__file__)

    task: Task

    def __init__(self, node: SpcaNode) -> None:
        self._order: _Order
        self._peers = {name: Peer(node, name) for name in _NODES}
        self._robot = RosRobot(node)
        self._watcher = Watcher(node, lambda: self._robot.seen, on=False)
        self._robot.on_seen = self._watcher.tell
        self._judged = VerdictMsg()  # by the referee, when it was asked last
        self._stamp = 0.0  # of the newest verdict on the topic
        self._epoch = ""
        self._cancelled = False
        self._can_go_back = True
        self._watches: list[Callable[[], None]] = []  # of the nodes that the level was begun with
        node.create_subscription(VerdictMsg, names.VERDICT, self._on_verdict, STATE)

        def service(kind: type, name: str, owner: str) -> ServiceCall:
            return ServiceCall(node, kind, name, self._peers[owner])

        self._reset = service(ResetWorld, names.RESET, names.SIM)
        self._set_parameters = service(SetParameters, f"{names.SIM}/set_parameters", names.SIM)
        self._pause = service(SetBool, names.PAUSE, names.SIM)
        self._hold = service(Trigger, names.HOLD, names.SIM)
        self._begin_level = service(BeginLevel, names.BEGIN_LEVEL, names.REFEREE)
        self._judge = service(Judge, names.JUDGE, names.REFEREE)
        self._stop = service(Trigger, names.STOP, names.EXECUTOR)
        self._save = {n: service(Checkpoint, names.checkpoint(n), n) for n in _NODES}
        self._load = {n: service(Restore, names.restore(n), n) for n in _NODES}
        self._record = {n: service(SaveRecording, names.save_recording(n), n) for n in _RECORDERS}
        self._look = ActionCall(node, Look, names.LOOK, self._peers[names.EXECUTOR])
        self._execute = ActionCall(node, ExecutePlan, names.EXECUTE, self._peers[names.EXECUTOR])

    def begin(self, options: RunOptions, timeout: float = _READY_S) -> None:
        """See `spca_ros.kit.RosEnvironment`. The referee's node finds the level by the same name or path."""
        world, level = load_table(options)
        layout, variation = draw_table(options.preset, options.seed, world, level)
        self._order = _Order(options, level, layout)
        self.task = task(level)
        self._cancelled = False
        end, again = time.monotonic() + timeout, False
        while True:
            self._wait_ready(end)
            try:
                self._lay_out(options, variation)
                return
            except NodeLost:
                # Before the level a node that was started again has lost nothing. And DDS drops an answer to
                # a client that its server has not found yet, on a busy machine: once, all is asked again.
                if time.monotonic() > end or (again and self._same_nodes()):
                    raise
                again, self._watches = True, []

    def _lay_out(self, options: RunOptions, variation: SimVariation) -> None:
        """Begin the level with the nodes that are there now."""
        connected = self._same_nodes()
        self._watches = [peer.watch() for peer in self._peers.values()]
        self._vary(options, variation)
        self._begin()
        if not connected:
            self._connect()
            if self._can_go_back:  # else nothing has moved meanwhile, and to begin takes seconds
                self._begin()
        self._forget()

    def _forget(self) -> None:
        """Drop what was recorded before, which is of no run, or of one that has ended."""
        for forget in self._record.values():
            _expect(forget(SaveRecording.Request(), timeout=_PATIENCE_S))

    def _vary(self, options: RunOptions, variation: SimVariation) -> None:
        """Have the simulator rebuilt, with the preset's light, friction, calibration …, at the next reset."""
        wanted = {name: getattr(options, name) for name in ("seed", "noise", "camera")}
        wanted["preset"] = variation_of(options.preset)
        disturbances = [d.model_dump() for d in variation.disturbances]
        wanted["disturbances"] = json.dumps(disturbances)
        for name, reason in self._set(wanted):
            if "undeclared" not in reason:
                raise InputError(f"--{name} {wanted[name]}", hint=reason)
            self._can_go_back = False  # Gazebo's node varies nothing, and has no checkpoints

    def _set(self, wanted: dict[str, Any]) -> list[tuple[str, str]]:
        """Set parameters of the simulator; returns those that it refused, and why."""
        parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in wanted.items()]
        answer = self._set_parameters(SetParameters.Request(parameters=parameters), timeout=_PATIENCE_S)
        results = zip(wanted, answer.results, strict=True)
        return [(name, result.reason) for name, result in results if not result.successful]

    def _connect(self) -> None:
        """Let a little time pass until contacts are seen to reach the referee, and its verdicts this node.

        DDS loses what is sent before both sides have found each other.
        """
        end = time.monotonic() + _PATIENCE_S
        while self._ask().seen == 0.0:
            if time.monotonic() > end:
                raise NodeLost("no contacts reach the referee, or no verdicts come from it")
            self._robot.wait(_CHUNK_S)

    def _begin(self) -> None:
        order = self._order
        epoch = self._epoch = uuid.uuid4().hex
        layout = to_msg(order.layout, LayoutMsg())
        for name in (names.EXECUTOR, names.SENSE):
            _expect(self._load[name](Restore.Request(epoch=epoch), timeout=_PATIENCE_S))
        self._judge_anew()
        world = ResetWorld.Request(epoch=epoch, layout=layout, seed=order.options.seed)
        _expect(self._reset(world, timeout=_SLOW_S), InputError)
        self._ask()
        self._robot.wait_news()

    def _judge_anew(self) -> None:
        """Have the referee judge the level in this epoch, and be told what the level asks for."""
        asks = self._order.level.needs_poses
        if self._set({"places": asks}) and asks:
            hint = "Gazebo does not tell the referee where things are; use MuJoCo"
            raise InputError(f"level '{self._order.level.name}' is judged by places", hint=hint)
        layout = to_msg(self._order.layout, LayoutMsg())
        level = BeginLevel.Request(epoch=self._epoch, level=self._order.options.level, layout=layout)
        _expect(self._begin_level(level), InputError)

    # --- Environment ----------------------------------------------------------------------------------------

    def sense(self) -> Observation:
        """Have the arm moved out of view and the table looked at."""
        # After the end nobody reads what an image model would say.
        told = [] if self.verdict().final else [to_msg(self.task, TaskMsg())]
        goal = Look.Goal(attempt=self._epoch, task=told)
        with self._watcher.watching():
            result = self._look(goal, cancelled=self._interrupted)
        self._check_nodes()
        if result.error_kind == "error":
            raise SpcaError(result.message)
        if result.error_kind:
            self._ask()  # a look fails, too, when nothing was heard from the referee: this finds out
            raise MotionError(result.error_kind, result.message)
        return observation_of(from_msg(Scene, result.scene))

    def act(
        self, attempt: str, plan: Plan, library: str, on_step: Callable[[StepReport], None] | None = None
    ) -> ActResult:
        """Have the plan run; the executor ends it early when the referee's verdict is final."""
        told: list[StepReport] = []

        def tell(step: StepReport) -> None:
            told.append(step)
            if on_step is not None:
                on_step(step)

        def on_feedback(message: ExecutePlan.Feedback) -> None:
            if message.attempt == attempt:
                tell(from_msg(StepReport, message.step))

        if self._cancelled:
            return ActResult(attempt=attempt, status="cancelled", steps=(), message="cancelled")
        goal = ExecutePlan.Goal(attempt=attempt, plan=to_msg(plan, PlanMsg()), library=library)
        with self._watcher.watching():
            answer = self._execute(goal, on_feedback, self._interrupted)
        self._check_nodes()
        if answer.error:
            raise SpcaError(answer.error)
        result = from_msg(ActResult, answer.result)
        for step in result.steps[len(told) :]:  # feedback that has not arrived
            tell(step)
        return result

    def settle(self) -> Verdict:
        """Let the world come to rest and the referee see enough of it."""
        end = self._robot.now() + SETTLE_S
        while not (self._cancelled or self._ask().outcome != VerdictMsg.RUNNING):
            now = self._robot.now()
            if self._judged.holding:
                end = max(end, now + self._order.level.dwell_s)
            if now + SAMPLE_PERIOD / 2 < end:  # a remainder of rounding would be waited for without end
                self._robot.wait(min(_CHUNK_S, end - now))
            elif self._judged_until(now).holding:  # the verdict was behind the clock
                continue
            else:
                break
        return self.verdict()

    def verdict(self) -> Verdict:
        """Return what the referee said when it was asked last; if that is not final, at the newest time.

        A node of any kind can publish a verdict. Only the answer of the referee that this level was begun
        with counts, to a question that it has not been asked before; the topic tells the time.
        """
        judged = from_msg(Verdict, self._judged)
        return judged if judged.final else judged.model_copy(update={"stamp": self._stamp})

    def checkpoint(self) -> bytes:
        """The states of all nodes, taken while time stands still.

        Empty where the simulator cannot give its own.
        """
        if not self._can_go_back:
            return pack({})
        self._stand_still(True)
        try:
            sim = self._save[names.SIM](Checkpoint.Request(), timeout=_PATIENCE_S)
            if not sim.success:
                self._can_go_back = False
                return pack({})
            states = {names.SIM: bytes(sim.state)}
            for name in (names.REFEREE, names.SENSE, names.EXECUTOR):
                states[name] = self._state_of(name, sim.stamp)
            self._judged_until(seconds(sim.stamp), within=_SAMPLE_S / 2)  # that `verdict` says what was saved
            return pack(states)
        finally:
            self._stand_still(False)

    def _stand_still(self, still: bool) -> None:
        """Stop or start time. Gazebo may take its time for it."""
        _expect(self._pause(SetBool.Request(data=still), timeout=_SLOW_S))

    def restore(self, checkpoint: bytes) -> None:
        """Back to a checkpoint of this level."""
        states = unpack(checkpoint)
        if not states:
            self._begin()
            return
        self._epoch = uuid.uuid4().hex
        self._put_back(states, names.EXECUTOR, names.SENSE, names.REFEREE)
        self._ask()
        self._robot.wait_news()

    def _put_back(self, states: Mapping[str, bytes], *nodes: str) -> None:
        """Give nodes these states in a new epoch; the last is the simulator, which sets time going."""
        for name in (*nodes, names.SIM):
            state = array("B", states[name])
            request = Restore.Request(epoch=self._epoch, state=state)
            _expect(self._load[name](request, timeout=_PATIENCE_S))

    def take_up(self, options: RunOptions) -> None:
        """See `Environment`. Another level begins; simulator and executor go on as they are."""
        self._check_nodes()
        if not (states := unpack(self.checkpoint())):
            raise InputError("a table that stays", hint="Gazebo begins every level anew; use MuJoCo")
        self._order = replace(self._order, options=options, level=load_table(options)[1])
        self.task, self._cancelled = task(self._order.level), False
        self._epoch = uuid.uuid4().hex
        self._judge_anew()
        self._put_back(states, names.EXECUTOR)
        self._forget()
        self._robot.wait_news()
        self._connect()

    def cancel(self) -> None:
        """Stop the arm, then the run."""
        self._hold.send(Trigger.Request())
        self._stop.send(Trigger.Request())
        self._cancelled = True

    def close(self) -> None:
        """There is nothing to release here: the process that started the nodes ends them."""

    def _check_nodes(self) -> None:
        """Raise NodeLost if a node was lost since the level began, even if it is back and knows nothing."""
        for check in self._watches:
            check()

    def _same_nodes(self) -> bool:
        """Return whether the nodes are those that the last level was begun with."""
        try:
            self._check_nodes()
        except NodeLost:
            return False
        return bool(self._watches)

    def _interrupted(self) -> bool:
        return self._cancelled or not self._same_nodes()

    # --- for runs -------------------------------------------------------------------------------------------

    def _wait_ready(self, end: float) -> None:
        for peer in self._peers.values():
            peer.wait_ready(max(end - time.monotonic(), 0.1))

    def save_recording(self, folder: Path) -> None:
        """Have looks, contacts and states written into a run's folder.

        What a lost node had is lost; that is no error.
        """
        for name, save in self._record.items():
            if not self._peers[name].lost:
                save(SaveRecording.Request(folder=str(folder)), timeout=_PATIENCE_S)

    def _state_of(self, name: str, stamp: Any) -> bytes:
        """A node's state, as soon as it has seen everything up to `stamp`."""
        end = time.monotonic() + _PATIENCE_S
        while not (answer := self._save[name](Checkpoint.Request(stamp=stamp))).success:
            if time.monotonic() > end:
                raise SpcaError(f"no checkpoint of '{name}' at {seconds(stamp)} s: {answer.message}")
            time.sleep(0.01)
        return bytes(answer.state)

    def _on_verdict(self, message: VerdictMsg) -> None:
        if message.epoch == self._epoch:
            self._stamp = message.stamp

    def _ask(self, seen: float = 0.0) -> VerdictMsg:
        """The referee's judgement on all contacts before that time."""
        end = time.monotonic() + _PATIENCE_S
        nonce = uuid.uuid4().hex
        question = Judge.Request(epoch=self._epoch, nonce=nonce, seen=time_msg(max(seen, 0.0)))
        while not (answer := self._judge(question, timeout=_PATIENCE_S)).success:
            if time.monotonic() > end:
                raise NodeLost(f"no verdict from the referee: {answer.message}")
            time.sleep(_POLL_S)
        if answer.verdict.epoch != self._epoch or not seal.same(
            answer.seal, sealed_verdict(nonce, answer.verdict)
        ):
            raise SpcaError("a verdict came that is not from the referee of this graph")
        self._judged, self._stamp = answer.verdict, answer.verdict.stamp
        return self._judged

    def _judged_until(self, stamp: float, within: float = _SAMPLE_S) -> VerdictMsg:
        """The verdict when the referee has seen all contacts up to `within` seconds before that time."""
        return self._ask(stamp - within)


def _expect(answer: Any, kind: type[SpcaError] = SpcaError) -> None:
    if not answer.success:
        raise kind(answer.message)
