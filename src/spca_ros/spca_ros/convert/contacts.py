"""Contact samples from and to messages."""

from __future__ import annotations

from collections.abc import Sequence

from spca_interfaces.msg import ContactPair, Contacts, ContactWay
from spca_interfaces.msg import ContactSample as ContactSampleMsg
from std_msgs.msg import Header

from spca_core.contacts import WAYS, ContactSample, pair
from spca_ros.convert.records import WORLD_FRAME
from spca_ros.convert.time import seconds, time_msg


def contacts_msg(samples: Sequence[ContactSample]) -> Contacts:
    """Return samples, at least one, in the order they were taken, as one message."""
    sent = [
        ContactSampleMsg(
            stamp=time_msg(s.stamp),
            pairs=[ContactPair(a=a, b=b) for a, b in sorted(s.pairs)],
            ways=[ContactWay(how=how, models=models) for how, *models in sorted(s.ways)],
        )
        for s in samples
    ]
    return Contacts(header=Header(stamp=sent[-1].stamp, frame_id=WORLD_FRAME), samples=sent)


def contact_samples(message: Contacts) -> list[ContactSample]:
    """Return the samples of a message, in their order."""
    return [
        ContactSample(
            seconds(s.stamp),
            frozenset(pair(p.a, p.b) for p in s.pairs),
            frozenset((way.how, *way.models) for way in s.ways if way.how in WAYS),
        )
        for s in message.samples
    ]
