"""Poses of things at the stamp of a contact sample. Ground truth, for the referee only."""

from __future__ import annotations

from collections.abc import Mapping

from geometry_msgs.msg import Quaternion, Transform, Vector3
from sensor_msgs.msg import MultiDOFJointState
from std_msgs.msg import Header

from spca_core.geometry import Pose
from spca_ros.convert.records import WORLD_FRAME
from spca_ros.convert.time import time_msg


def places_msg(stamp: float, poses: Mapping[str, Pose]) -> MultiDOFJointState:
    """Return poses by model at a time (s) as joints of six degrees, because nothing holds these things."""
    header = Header(stamp=time_msg(stamp), frame_id=WORLD_FRAME)
    return MultiDOFJointState(
        header=header, joint_names=list(poses), transforms=[_transform(pose) for pose in poses.values()]
    )


def places(message: MultiDOFJointState) -> dict[str, Pose]:
    """Return the poses in a message, by model."""
    moved = zip(message.joint_names, message.transforms, strict=False)
    return {name: _place(transform) for name, transform in moved}


def _place(transform: Transform) -> Pose:
    """Return the pose of a thing that a transform puts there."""
    p, q = transform.translation, transform.rotation
    return Pose(position=(p.x, p.y, p.z), quaternion=(q.x, q.y, q.z, q.w))


def _transform(pose: Pose) -> Transform:
    x, y, z = pose.position
    qx, qy, qz, qw = pose.quaternion
    return Transform(translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw))
