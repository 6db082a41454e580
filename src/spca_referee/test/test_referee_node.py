"""The referee as a node that is started alone."""

import pytest
from sensor_msgs.msg import MultiDOFJointState
from spca_interfaces.msg import Contacts, Verdict
from spca_interfaces.msg import Layout as LayoutMsg
from spca_interfaces.srv import BeginLevel, Judge

from spca_core.contacts import ContactSample, pair
from spca_core.layout import nominal_layout
from spca_core.world import load_world
from spca_referee.level import load_level
from spca_ros import names
from spca_ros.calls import ServiceCall
from spca_ros.convert.contacts import contacts_msg, places_msg
from spca_ros.convert.records import to_msg
from spca_ros.qos import EVERY, STATE
from spca_testing.ros import Heard, ask, heeded, referee, running

pytestmark = pytest.mark.ros


def test_a_level_begins_where_the_simulators_clock_is() -> None:
    """Gazebo's clock goes on over a reset: a second level must not begin with its time used up."""
    world = load_world("tabletop")
    level = load_level("touch_01", world)
    resting = frozenset(pair(model, "table") for model in nominal_layout(world).poses)
    with running(referee(world="tabletop")) as (node, _):
        verdicts = Heard.on(node, Verdict, names.VERDICT, STATE)
        contacts = heeded(node, Contacts, names.CONTACTS, EVERY)
        judge = ServiceCall(node, Judge, names.JUDGE)
        assert not ask(judge, Judge.Request()).success
        begin = ServiceCall(node, BeginLevel, names.BEGIN_LEVEL)
        layout = to_msg(nominal_layout(world), LayoutMsg())
        assert ask(begin, BeginLevel.Request(level="touch_01", layout=layout)).success

        def judged(stamp: float) -> Verdict:
            contacts.publish(contacts_msg([ContactSample(stamp=stamp, pairs=resting)]))
            return verdicts.until(lambda verdict: verdict.stamp >= stamp - 500.0 - 1e-6)

        first = judged(500.02)
        assert first.outcome == Verdict.RUNNING and first.stamp == pytest.approx(0.02)
        assert judged(500.0 + level.time_limit_s - 0.1).outcome == Verdict.RUNNING
        assert judged(500.0 + level.time_limit_s).outcome == Verdict.TIMEOUT
        assert ask(judge, Judge.Request()).verdict.outcome == Verdict.TIMEOUT


def test_a_level_of_places_is_judged_by_where_things_are() -> None:
    """They are told before the contacts of the same time."""
    world = load_world("tabletop")
    layout = nominal_layout(world)
    with running(referee(world="tabletop")) as (node, _):
        verdicts = Heard.on(node, Verdict, names.VERDICT, STATE)
        contacts = heeded(node, Contacts, names.CONTACTS, EVERY)
        places = heeded(node, MultiDOFJointState, names.PLACES, EVERY)
        begin = ServiceCall(node, BeginLevel, names.BEGIN_LEVEL)
        message = to_msg(layout, LayoutMsg())
        assert ask(begin, BeginLevel.Request(level="arrange_01", layout=message)).success
        places.publish(places_msg(0.02, layout.poses))
        ask(ServiceCall(node, Judge, names.JUDGE), Judge.Request())  # by now the places have come
        contacts.publish(contacts_msg([ContactSample(stamp=0.02, pairs=frozenset())]))
        assert verdicts.until(lambda verdict: verdict.stamp > 0.0).outcome == Verdict.RUNNING
