"""Quality of service, by what is sent: reliable, and only for who is there, unless it says otherwise."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

LEASE_S = 2.0
"""Wall time in seconds without a sign of life after which a node counts as lost."""

SENSOR = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Profile for joint states: the newest counts, an old one is worth nothing."""

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Profile for a reader of joint states: one that waited in a queue may be from before a world's reset."""

STATE = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Profile for task state and pictures: the last one reaches late joiners, too.

A picture is larger than a socket's buffer: sent with best effort it hardly ever arrives whole.
"""

WHOLE = QoSProfile(depth=2)
"""Profile for a reader of pictures of somebody else's camera, whatever it promises to late joiners."""

EVERY = QoSProfile(depth=1000)
"""Profile for contacts, places and events, of which none may be lost."""

ALIVE = QoSProfile(
    depth=1,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
    liveliness=LivelinessPolicy.AUTOMATIC,
    liveliness_lease_duration=Duration(seconds=LEASE_S),
)
"""Profile for a node's status: DDS tells readers when the writer's process dies or stops answering."""
