"""Contact samples, and where things are at their stamps: ground truth, for the referee only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geometry_msgs.msg import Quaternion, Transform, Vector3
from sensor_msgs.msg import MultiDOFJointState
from spca_interfaces.msg import ContactPair, Contacts, ContactWay
from spca_interfaces.msg import ContactSample as ContactSampleMsg
from std_msgs.msg import Header

from spca_core.contacts import WAYS, ContactSample, pair
from spca_core.geometry import Pose
from spca_ros.convert.records import WORLD_FRAME, seconds, time_msg


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


def places_msg(stamp: float, poses: Mapping[str, Pose]) -> MultiDOFJointState:
    """Return poses by model at a time (s) as joints of six degrees, because nothing holds these things."""
    message = MultiDOFJointState(header=Header(stamp=time_msg(stamp), frame_id=WORLD_FRAME))
    for name, pose in poses.items():
        (x, y, z), (qx, qy, qz, qw) = pose.position, pose.quaternion
        message.joint_names.append(name)
        message.transforms.append(
            Transform(translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw))
        )
    return message


def places(message: MultiDOFJointState) -> dict[str, Pose]:
    """Return the poses in a message, by model."""
    moved = zip(message.joint_names, message.transforms, strict=False)
    ways = ((name, transform.translation, transform.rotation) for name, transform in moved)
    return {name: Pose(position=(p.x, p.y, p.z), quaternion=(q.x, q.y, q.z, q.w)) for name, p, q in ways}
