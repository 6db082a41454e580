"""The node `referee`: contacts in, verdicts out."""

from __future__ import annotations

from array import array
from collections import deque

from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import MultiDOFJointState
from spca_interfaces.msg import Contacts
from spca_interfaces.msg import Verdict as VerdictMsg
from spca_interfaces.srv import BeginLevel, Checkpoint, Judge, Restore, SaveRecording

from spca_core.checkpoint import pack, unpack
from spca_core.contacts import SAMPLE_PERIOD, ContactSample
from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.processes.leaving import leave
from spca_core.world import load_world
from spca_referee.contacts import save_timeline
from spca_referee.level import load_level
from spca_referee.referee import CHECKPOINT_KINDS, Referee
from spca_ros import names
from spca_ros.convert.contacts import contact_samples, sealed_verdict
from spca_ros.convert.places import places, world_of
from spca_ros.convert.records import from_msg, to_msg
from spca_ros.convert.time import seconds, time_msg
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, answering, existing
from spca_ros.peer import serve_supervisor
from spca_ros.qos import EVERY, NEWEST, STATE
from spca_ros.watch import Watcher

_NEWS_PERIOD = 0.05  # wall seconds between two verdicts that differ in nothing but their stamp
_AHEAD_S = 1.0  # simulated seconds that contacts may be ahead of the clock, which is told less often


class RefereeNode(SpcaNode):
    """Judges the epoch it was assigned; contacts of any other are ignored.

    It tells by leases that it lives and what it has seen, so that nothing moves unjudged.
    """

    def __init__(self, loop: Loop | None = None) -> None:
        super().__init__(names.REFEREE, loop)
        self._world = load_world(self.parameter("world", "tabletop", "a world in worlds/ or a path"))
        self._referee: Referee | None = None
        self._epoch = ""
        self._seen = 0.0
        self._waiting: deque[ContactSample] = deque()  # until it is known where things were
        self._places: dict[float, dict[str, Pose]] = {}  # by stamp
        self._told: VerdictMsg | None = None
        self._now: float | None = None  # on the simulator's clock, once that is heard
        self._verdict = self.create_publisher(VerdictMsg, names.VERDICT, STATE)
        self._watcher = Watcher(self, lambda: max(self._seen, self._now or 0.0))
        self.create_subscription(Clock, "/clock", self._on_clock, NEWEST)
        self.create_subscription(Contacts, names.CONTACTS, self._on_contacts, EVERY)
        self.create_subscription(MultiDOFJointState, names.PLACES, self._on_places, EVERY)
        self.wall_timer(_NEWS_PERIOD, self._tell)
        self.create_service(BeginLevel, names.BEGIN_LEVEL, self._begin)
        self.create_service(Judge, names.JUDGE, self._judge)
        self.create_service(Checkpoint, names.checkpoint(names.REFEREE), self._checkpoint)
        self.create_service(Restore, names.restore(names.REFEREE), self._restore)
        self.create_service(SaveRecording, names.save_recording(names.REFEREE), self._save)

    def _on_clock(self, message: Clock) -> None:
        self._now = max(seconds(message.clock), 0.0)

    def _on_contacts(self, message: Contacts) -> None:
        if self._referee is None or message.epoch != self._epoch:
            return
        for sample in contact_samples(message):
            if self._now is None or sample.stamp <= self._now + _AHEAD_S:
                self._waiting.append(sample)
            else:
                self._drop("of the future")
        self._judge_waiting()
        self._watcher.tell()

    def _on_places(self, message: MultiDOFJointState) -> None:
        asked = self._referee is not None and self._referee.level.needs_poses
        if asked and message.header.frame_id == world_of(self._epoch):
            self._places[seconds(message.header.stamp)] = places(message)
            self._judge_waiting()

    def _judge_waiting(self) -> None:
        """Judge samples in their order; where a level asks for places, once these are known."""
        assert self._referee is not None
        while self._waiting:
            stamp = self._waiting[0].stamp
            if not self._referee.level.needs_poses:
                self._consume(self._waiting.popleft())
            elif stamp in self._places:
                self._consume(self._waiting.popleft(), self._places[stamp])
                self._places = {at: poses for at, poses in self._places.items() if at > stamp}
            elif any(at > stamp for at in self._places):  # lost before the nodes had found each other
                self._waiting.popleft()
            else:
                break

    def _drop(self, why: str) -> None:
        """Contacts whose stamp cannot be the simulator's: another has sent them."""
        self.get_logger().warning(f"contacts were dropped: {why}", once=True)

    def _consume(self, sample: ContactSample, poses: dict[str, Pose] | None = None) -> None:
        assert self._referee is not None
        if not self._seen:
            self._referee.start_at(max(sample.stamp - SAMPLE_PERIOD, 0.0))
        try:
            self._referee.consume(sample, poses)
        except SpcaError as error:  # of the past
            self._drop(str(error))
            return
        self._seen = sample.stamp
        if self._news():
            self._tell()

    def _news(self) -> bool:
        """Return whether more than the stamp is new."""
        assert self._referee is not None
        verdict, told = self._referee.verdict, self._told
        return told is None or (told.outcome, told.score, told.holding) != (
            verdict.outcome.value,
            verdict.score,
            self._referee.holding,
        )

    def _tell(self) -> None:
        """Publish the verdict unless it has been published already."""
        if self._referee is None:
            return
        message = self._message(self._referee)
        if message != self._told:
            self._told = message
            self._verdict.publish(message)

    def _message(self, referee: Referee) -> VerdictMsg:
        known = VerdictMsg(epoch=self._epoch, seen=self._seen, holding=referee.holding)
        return to_msg(referee.verdict, known)

    def _judge(self, request: Judge.Request, response: Judge.Response) -> Judge.Response:
        with answering(response):
            if self._referee is None or request.epoch != self._epoch:
                raise SpcaError("no such level has begun")
            final = self._referee.verdict.final
            if not final and self._seen + SAMPLE_PERIOD <= seconds(request.seen):
                raise SpcaError("not all contacts have arrived yet")
            response.verdict = self._message(self._referee)
            response.seal = sealed_verdict(request.nonce, response.verdict)
        return response

    def _begin(self, request: BeginLevel.Request, response: BeginLevel.Response) -> BeginLevel.Response:
        with answering(response):
            level = load_level(request.level, self._world)
            self._take_up(
                Referee(level, self._world, from_msg(Layout, request.layout).poses), 0.0, request.epoch
            )
        return response

    def _take_up(self, referee: Referee, seen: float, epoch: str) -> None:
        """Judge by this referee from now on; what has not been judged yet is of another epoch."""
        self._referee, self._seen, self._epoch = referee, seen, epoch
        self._waiting.clear()
        self._places.clear()
        self._tell()

    def _checkpoint(self, request: Checkpoint.Request, response: Checkpoint.Response) -> Checkpoint.Response:
        with answering(response):
            if self._referee is None:
                raise SpcaError("no level has begun")
            if self._seen + SAMPLE_PERIOD <= seconds(request.stamp):
                raise SpcaError("not all contacts have arrived yet")
            response.state = array("B", pack((self._referee, self._seen)))
            response.stamp = time_msg(self._seen)
        return response

    def _restore(self, request: Restore.Request, response: Restore.Response) -> Restore.Response:
        with answering(response):
            referee, seen = unpack(bytes(request.state), CHECKPOINT_KINDS)
            if not isinstance(referee, Referee) or not isinstance(seen, float):
                raise SpcaError("a checkpoint of another node")
            self._take_up(referee, seen, request.epoch)
        return response

    def _save(
        self, request: SaveRecording.Request, response: SaveRecording.Response
    ) -> SaveRecording.Response:
        with answering(response):
            timeline = self._referee.timeline() if self._referee is not None else ()
            if request.folder:
                save_timeline(timeline, existing(request.folder) / names.CONTACTS_FILE)
        return response


def main() -> None:
    """Run the node; its exit status is the process's."""
    leave(serve_supervisor(lambda: [RefereeNode()]))


if __name__ == "__main__":
    main()
