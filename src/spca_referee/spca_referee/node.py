"""The node `referee`: tells the verdict of a run, or, started alone, judges contacts itself."""

from __future__ import annotations

from collections.abc import Callable

from sensor_msgs.msg import MultiDOFJointState
from spca_interfaces.msg import Contacts
from spca_interfaces.msg import Verdict as VerdictMsg
from spca_interfaces.srv import BeginLevel, Judge

from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.layout import Layout
from spca_core.result import Verdict
from spca_core.world import load_world
from spca_referee.level import load_level
from spca_referee.referee import Referee
from spca_ros import names
from spca_ros.convert.contacts import contact_samples, places
from spca_ros.convert.records import from_msg, seconds, to_msg
from spca_ros.loop import Loop
from spca_ros.node import SpcaNode, answering, main_of
from spca_ros.qos import EVERY, STATE

_NEWS_PERIOD = 0.05  # wall seconds between two verdicts that differ in nothing but their stamp
_KEPT = 50  # samples whose places are known, at most


class RefereeNode(SpcaNode):
    """Publishes `judged()`: a verdict, and whether waiting may make it a success; None: nobody judges now."""

    def __init__(self, loop: Loop | None = None) -> None:
        super().__init__(names.REFEREE, loop)
        self.judged: Callable[[], tuple[Verdict, bool] | None] = lambda: None
        self._told: VerdictMsg | None = None
        self._verdict = self.create_publisher(VerdictMsg, names.VERDICT, STATE)
        self.wall_timer(_NEWS_PERIOD, self.tell)
        self.create_service(Judge, names.JUDGE, self._judge)

    def tell(self) -> None:
        """Publish the verdict unless it has been published already."""
        if (judged := self.judged()) is None:
            return
        message = _message(*judged)
        if message != self._told:
            self._told = message
            self._verdict.publish(message)

    def _judge(self, _: Judge.Request, response: Judge.Response) -> Judge.Response:
        with answering(response):
            if (judged := self.judged()) is None:
                raise SpcaError("no level has begun")
            response.verdict = _message(*judged)
        return response


class JudgingNode(RefereeNode):
    """Judges the contacts on the graph, from `referee/begin_level` on."""

    def __init__(self, loop: Loop | None = None) -> None:
        super().__init__(loop)
        self._world = load_world(self.parameter("world", "tabletop", "a world in worlds/ or a path"))
        self._judging: Referee | None = None
        self._places: dict[float, dict[str, Pose]] = {}  # by stamp
        self.judged = lambda: (level.verdict, level.holding) if (level := self._judging) else None
        self.create_subscription(Contacts, names.CONTACTS, self._on_contacts, EVERY)
        self.create_subscription(MultiDOFJointState, names.PLACES, self._on_places, EVERY)
        self.create_service(BeginLevel, names.BEGIN_LEVEL, self._begin)

    def _begin(self, request: BeginLevel.Request, response: BeginLevel.Response) -> BeginLevel.Response:
        with answering(response):
            level = load_level(request.level, self._world)
            layout = from_msg(Layout, request.layout)
            self._judging = Referee(level, self._world, layout.poses, start=None)
            self._places.clear()
        return response

    def _on_contacts(self, message: Contacts) -> None:
        if (referee := self._judging) is None:
            return
        for sample in contact_samples(message):
            referee.consume(sample, self._places.get(sample.stamp))
        self.tell()

    def _on_places(self, message: MultiDOFJointState) -> None:
        while len(self._places) >= _KEPT:
            del self._places[next(iter(self._places))]
        self._places[seconds(message.header.stamp)] = places(message)


def _message(verdict: Verdict, holding: bool) -> VerdictMsg:
    return to_msg(verdict, VerdictMsg(holding=holding))


main = main_of(JudgingNode)

if __name__ == "__main__":
    main()
