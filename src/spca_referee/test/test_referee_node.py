"""The referee as a node that is started alone."""

import pytest
from sensor_msgs.msg import MultiDOFJointState
from spca_interfaces.msg import Contacts, Verdict
from spca_interfaces.msg import Layout as LayoutMsg
from spca_interfaces.srv import BeginLevel, Judge

from spca_core.contacts import ContactSample
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


def test_a_level_of_places_begins_where_the_simulators_clock_is() -> None:
    """Gazebo's clock goes on over a reset, and places are told before the contacts of the same time."""
    world = load_world("tabletop")
    layout, level = nominal_layout(world), load_level("arrange_01", world)
    with running(referee(world="tabletop")) as (node, _):
        verdicts = Heard.on(node, Verdict, names.VERDICT, STATE)
        contacts = heeded(node, Contacts, names.CONTACTS, EVERY)
        places = heeded(node, MultiDOFJointState, names.PLACES, EVERY)
        judge = ServiceCall(node, Judge, names.JUDGE)
        assert not ask(judge, Judge.Request()).success
        begin = ServiceCall(node, BeginLevel, names.BEGIN_LEVEL)
        assert ask(begin, BeginLevel.Request(level=level.name, layout=to_msg(layout, LayoutMsg()))).success

        def judged(stamp: float) -> Verdict:
            places.publish(places_msg(stamp, layout.poses))
            ask(judge, Judge.Request())  # by now the places have come
            contacts.publish(contacts_msg([ContactSample(stamp=stamp, pairs=frozenset())]))
            return verdicts.until(lambda verdict: verdict.stamp >= stamp - 500.0 - 1e-6)

        first = judged(500.02)
        assert first.outcome == Verdict.RUNNING and first.stamp == pytest.approx(0.02)
        assert judged(500.0 + level.time_limit_s - 0.1).outcome == Verdict.RUNNING
        assert judged(500.0 + level.time_limit_s).outcome == Verdict.TIMEOUT
        assert ask(judge, Judge.Request()).verdict.outcome == Verdict.TIMEOUT
