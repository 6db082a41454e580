"""No message of a node that does not belong to the graph ends a node of it, or decides anything."""

import math
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest

from spca_core.options import RunOptions
from spca_core.result import Outcome
from spca_ros import names
from spca_ros.calls import NodeLost, ServiceCall
from spca_ros.node import SpcaNode, ros_session
from spca_ros.node_process import NodeProcess
from spca_ros.qos import EVERY, STATE
from spca_tabletop.ros.executor_node import TabletopRos
from spca_testing.ros import running, sim

pytestmark = [pytest.mark.ros, pytest.mark.slow]

Graph = tuple[SpcaNode, dict[str, NodeProcess]]


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    with running(sim(), name="stranger") as found:
        yield found


def test_no_message_ends_a_node(
    graph: Graph, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    """On every topic that a node listens to, and to every service that it has, those of actions included."""
    node, dice = graph[0], random.Random(0)
    count = max(1, pytestconfig.getoption("mutations") // 250)
    sent = set()
    with ros_session("program") as own:
        side = TabletopRos(own.loop)
        options = RunOptions(level="touch_02")
        table = side.build(options, None, lambda: None, anew=True)
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
                    ):  # an answer is not owed to nonsense, and who hangs is found below
                        call(hostile(_kind(kind).Request, dice), timeout=2.0)
                sent.add(service)
        record_property("tried", count * len(sent))
        assert {"/contacts", "/referee/judge", "/sim/reset", "/sim/let_pass", "/sim/set_parameters"} <= sent
        side.part()
        table = side.build(options, None, lambda: None, anew=True)
        assert table.sense().objects and table.settle().outcome is Outcome.RUNNING
        side.part()
        for each in side.nodes:
            each.close()
    graph[1][names.SIM].check()


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


def _kind(name: str) -> Any:
    package, group, kind = name.split("/")
    found = import_module(f"{package}.{group}")
    action, _, part = kind.partition("_")
    if group == "action":
        impl = getattr(found, action).Impl
        return {"SendGoal": impl.SendGoalService, "GetResult": impl.GetResultService,
                "FeedbackMessage": impl.FeedbackMessage}[part]  # fmt: skip
    return getattr(found, kind)
