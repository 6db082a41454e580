"""The referee as a node."""

from __future__ import annotations

import time

import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import MultiDOFJointState
from spca_interfaces.msg import Contacts, Verdict
from spca_interfaces.msg import Layout as LayoutMsg
from spca_interfaces.srv import BeginLevel

from spca_core.contacts import ContactSample, pair
from spca_core.layout import nominal_layout
from spca_core.world import load_world
from spca_referee.level import load_level
from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.convert.contacts import contacts_msg
from spca_ros.convert.places import places_msg
from spca_ros.convert.records import to_msg
from spca_ros.convert.time import time_msg
from spca_ros.qos import EVERY, SENSOR, STATE
from spca_testing.ros import ask, referee, running

pytestmark = pytest.mark.ros


def test_a_level_begins_where_the_simulators_clock_is() -> None:
    """Gazebo's clock goes on over a reset: a second level must not begin with its time used up."""
    world = load_world("tabletop")
    level = load_level("touch_01", world)
    resting = frozenset(pair(model, "table") for model in nominal_layout(world).poses)
    verdicts: list[Verdict] = []
    with running(referee(world="tabletop")) as (node, graph):
        node.create_subscription(Verdict, names.VERDICT, verdicts.append, STATE)
        contacts = node.create_publisher(Contacts, names.CONTACTS, EVERY)
        clock = node.create_publisher(Clock, "/clock", SENSOR)
        begin = ServiceCall(node, BeginLevel, names.BEGIN_LEVEL, graph.peers[names.REFEREE])
        layout = to_msg(nominal_layout(world), LayoutMsg())
        assert ask(begin, BeginLevel.Request(epoch="second", level="touch_01", layout=layout)).success

        def judged(stamp: float) -> Verdict:
            end = time.monotonic() + 60.0
            while not (verdicts and verdicts[-1].seen >= stamp - 1e-6):
                assert time.monotonic() < end
                clock.publish(Clock(clock=time_msg(stamp)))
                contacts.publish(contacts_msg([ContactSample(stamp=stamp, pairs=resting)], "second"))
                time.sleep(0.05)
            return verdicts[-1]

        first = judged(500.02)
        assert first.outcome == Verdict.RUNNING and first.stamp == pytest.approx(0.02)
        assert judged(500.0 + level.time_limit_s - 0.1).outcome == Verdict.RUNNING
        assert judged(500.0 + level.time_limit_s).outcome == Verdict.TIMEOUT


def test_a_level_of_places_waits_until_it_knows_where_things_were() -> None:
    """Contacts and places are two topics; what came before both were heard is lost."""
    world = load_world("tabletop")
    layout = nominal_layout(world)
    verdicts: list[Verdict] = []
    with running(referee(world="tabletop")) as (node, graph):
        node.create_subscription(Verdict, names.VERDICT, verdicts.append, STATE)
        contacts = node.create_publisher(Contacts, names.CONTACTS, EVERY)
        places = node.create_publisher(MultiDOFJointState, names.PLACES, EVERY)
        clock = node.create_publisher(Clock, "/clock", SENSOR)
        begin = ServiceCall(node, BeginLevel, names.BEGIN_LEVEL, graph.peers[names.REFEREE])
        message = to_msg(layout, LayoutMsg())
        assert ask(begin, BeginLevel.Request(epoch="now", level="arrange_01", layout=message)).success
        end = time.monotonic() + 60.0
        while not (verdicts and verdicts[-1].seen):
            assert time.monotonic() < end
            clock.publish(Clock(clock=time_msg(0.06)))
            for stamp in (0.02, 0.04, 0.06):
                contacts.publish(contacts_msg([ContactSample(stamp=stamp, pairs=frozenset())], "now"))
            places.publish(places_msg(0.04, layout.poses, "before"))
            places.publish(places_msg(0.06, layout.poses, "now"))
            time.sleep(0.05)
        assert {round(v.seen, 6) for v in verdicts if v.seen} == {0.06}
        assert verdicts[-1].outcome == Verdict.RUNNING and verdicts[-1].stamp == pytest.approx(0.02)
