"""A node that does not belong to the graph decides nothing, and ends nothing."""

from __future__ import annotations

import math
import random
import re
import time
from array import array
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest
from rclpy.qos import QoSProfile
from spca_interfaces.msg import Lease
from spca_interfaces.msg import Verdict as VerdictMsg
from spca_interfaces.srv import Judge, Restore
from std_srvs.srv import SetBool

from spca_core.checkpoint import pack
from spca_core.contacts import ContactSample, pair
from spca_core.errors import SpcaError
from spca_core.options import RunOptions
from spca_core.verdict import Outcome
from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.convert.contacts import contacts_msg
from spca_ros.convert.time import time_msg
from spca_ros.graph import Graph
from spca_ros.node import SpcaNode
from spca_ros.peer import NodeLost
from spca_ros.qos import EVERY, STATE
from spca_tabletop.ros.environment import RosTabletop
from spca_testing.ros import ask, executor, referee, running, sense, sim

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def graph() -> Iterator[tuple[SpcaNode, Graph]]:
    with running(sim(), sense(), executor(), referee(), name="supervisor") as (node, started):
        node.say("ready")
        yield node, started


@pytest.fixture
def tabletop(graph: tuple[SpcaNode, Graph]) -> Iterator[RosTabletop]:
    environment = RosTabletop(graph[0])
    environment.begin(RunOptions(level="touch_02"), 60.0)
    yield environment
    assert environment.settle().outcome is Outcome.RUNNING, "nothing has been touched"
    assert environment.sense().objects, "the graph works"
    graph[1].check()


def send(node: SpcaNode, topic: str, message: Any, qos: QoSProfile, seconds: float = 0.5) -> None:
    """By a publisher that stays: rclpy's loop ends with an error on an event of one that has gone."""
    publisher = node.create_publisher(type(message), topic, qos)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        publisher.publish(message)
        time.sleep(0.02)


def test_a_published_verdict_is_not_believed(graph: tuple[SpcaNode, Graph], tabletop: RosTabletop) -> None:
    forged = VerdictMsg(epoch=tabletop._epoch, outcome=VerdictMsg.SUCCESS, score=1.0, stamp=5.0, seen=1e6)
    send(graph[0], names.VERDICT, forged, STATE)
    assert tabletop.verdict().outcome is Outcome.RUNNING


def test_an_answer_without_the_referees_mark_is_not_believed(
    tabletop: RosTabletop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of another node that offers the same service; an answer to an earlier question is none either."""
    earlier: list[Judge.Response] = []
    asked = tabletop._judge

    def answers(request: Judge.Request, timeout: float) -> Judge.Response:
        answer = asked(request, timeout=timeout)
        earlier.append(answer)
        if len(earlier) > 1:
            return earlier[0]
        answer.verdict.outcome = VerdictMsg.SUCCESS
        return answer

    monkeypatch.setattr(tabletop, "_judge", answers)
    for _ in range(2):
        with pytest.raises(SpcaError, match="not from the referee"):
            tabletop.settle()
    monkeypatch.undo()


@pytest.mark.parametrize("stamp", [0.0, 1e3])
def test_contacts_of_another_time_are_dropped(
    stamp: float, graph: tuple[SpcaNode, Graph], tabletop: RosTabletop
) -> None:
    """Those of the past tell of a touch that lasted; those of the future would end the level's time."""
    tabletop.settle()
    touching = frozenset({pair("cobot", "box_blue")})
    samples = [ContactSample(stamp=stamp + 0.02 * k, pairs=touching) for k in range(80)]
    message = contacts_msg(samples, tabletop._epoch)
    send(graph[0], names.CONTACTS, message, EVERY)


@pytest.mark.parametrize("node", [names.SIM, names.REFEREE, names.SENSE, names.EXECUTOR])
def test_a_foreign_state_is_refused(
    node: str, graph: tuple[SpcaNode, Graph], tabletop: RosTabletop, monkeypatch: pytest.MonkeyPatch
) -> None:
    restore = ServiceCall(graph[0], Restore, names.restore(node), graph[1].peers[node])
    for state in (b"nonsense", pack({"qpos": [1.0]})[:-40], _with_another_key(monkeypatch)):
        answer = ask(restore, Restore.Request(epoch=tabletop._epoch, state=array("B", state)))
        assert not answer.success and answer.message


def _with_another_key(monkeypatch: pytest.MonkeyPatch) -> bytes:
    with monkeypatch.context() as patch:
        patch.setattr("spca_core.seal._key", lambda: b"another")
        return pack(({"qpos": [1.0]}, 0.0))


def test_neither_a_pause_nor_a_lease_holds_a_run_for_long(
    graph: tuple[SpcaNode, Graph], tabletop: RosTabletop
) -> None:
    pause = ServiceCall(graph[0], SetBool, names.PAUSE, graph[1].peers[names.SIM])
    assert ask(pause, SetBool.Request(data=True)).success
    tabletop.settle()
    ask(pause, SetBool.Request(data=False))
    stuck = Lease(client="stranger", seen=time_msg(0.0), until=time_msg(1e6))
    publisher = graph[0].create_publisher(Lease, names.LEASE, EVERY)
    timer = graph[0].wall_timer(0.02, lambda: publisher.publish(stuck))
    tabletop.settle()
    graph[0].loop.run(lambda: graph[0].destroy_timer(timer))


def hostile(kind: Any, dice: random.Random) -> Any:
    """A message of any type, of values that nobody expects."""
    fields = kind.get_fields_and_field_types()
    message = kind()
    for name, type_ in fields.items():
        setattr(message, name, _value(getattr(message, name), type_, dice))
    return message


def _value(default: Any, type_: str, dice: random.Random) -> Any:
    """A value of a type as rosidl names it; `default` is one, too."""
    if type_.startswith("sequence<"):
        inner = type_.removeprefix("sequence<").removesuffix(">").partition(",")[0]
        return [_value(_message(inner), inner, dice) for _ in range(dice.choice([0, 1, 7]))]
    if type_.endswith("]"):
        return [_value(None, type_.partition("[")[0], dice) for _ in default]
    if type_.startswith("string"):
        return dice.choice(["", "x" * 5000, "\x1b[2J", "{", "stack_01", "../../x", "cobot", "[" * 3000])
    if found := re.fullmatch(r"(u?)int(\d+)|octet", type_):
        bits = int(found[2] or 8) - (not found[1])
        return dice.choice([0, 1, 2**bits - 1, 0 if found[1] else -(2**bits)])
    if type_ in ("float", "double"):
        return dice.choice([0.0, math.nan, math.inf, -1e30, 1e-40, 1e6])
    return dice.random() < 0.5 if type_ == "boolean" else hostile(type(default), dice)


def _message(type_: str) -> Any:
    package, _, name = type_.rpartition("/")
    return getattr(import_module(f"{package}.msg"), name)() if package else None


@pytest.mark.slow
def test_no_message_ends_a_node(graph: tuple[SpcaNode, Graph], pytestconfig: pytest.Config) -> None:
    """On every topic that a node listens to, and to every service that it has, those of actions included."""
    node, dice = graph[0], random.Random(0)
    environment = RosTabletop(node)
    environment.begin(RunOptions(level="touch_02"), 60.0)
    count = pytestconfig.getoption("mutations") // 250
    sent = set()
    for name in (names.SIM, names.SENSE, names.EXECUTOR, names.REFEREE):
        for topic, [kind] in node.get_subscriber_names_and_types_by_node(name, "/"):
            if topic in ("/clock", "/parameter_events"):
                continue
            publisher = node.create_publisher(_kind(kind), topic, STATE if "verdict" in topic else EVERY)
            for _ in range(count):
                publisher.publish(hostile(_kind(kind), dice))
            sent.add(topic)
        for service, [kind] in node.get_service_names_and_types_by_node(name, "/"):
            call = ServiceCall(node, _kind(kind), service)
            for _ in range(count):
                with suppress(
                    NodeLost
                ):  # an answer is not owed to nonsense, and a node that hangs is found below
                    call(hostile(_kind(kind).Request, dice), timeout=2.0)
            sent.add(service)
    assert {"/lease", "/contacts", "/referee/judge", "/sim/restore", "/executor/set_parameters"} <= sent
    environment.begin(RunOptions(level="touch_02"), 60.0)
    assert environment.sense().objects and environment.verdict().outcome is Outcome.RUNNING
    graph[1].check()


def _kind(name: str) -> Any:
    package, group, kind = name.split("/")
    found = import_module(f"{package}.{group}")
    action, _, part = kind.partition("_")
    if group == "action":
        impl = getattr(found, action).Impl
        return {"SendGoal": impl.SendGoalService, "GetResult": impl.GetResultService,
                "FeedbackMessage": impl.FeedbackMessage}[part]  # fmt: skip
    return getattr(found, kind)
