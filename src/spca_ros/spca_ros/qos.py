"""Quality of service, by what is sent."""

from __future__ import annotations

from typing import Any

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

LEASE_S = 2.0
"""Wall time in seconds without a sign of life after which a node counts as lost."""


def keep_last(
    depth: int, reliability: ReliabilityPolicy, *, late_joiners: bool = False, **more: Any
) -> QoSProfile:
    """Return a profile for the last `depth` messages; `late_joiners` get what was sent before they came."""
    durability = DurabilityPolicy.TRANSIENT_LOCAL if late_joiners else DurabilityPolicy.VOLATILE
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=reliability, durability=durability, **more
    )


SENSOR = keep_last(5, ReliabilityPolicy.BEST_EFFORT)
"""Profile for joint states: the newest counts, an old one is worth nothing."""

NEWEST = keep_last(1, ReliabilityPolicy.BEST_EFFORT)
"""Profile for a reader of joint states: one that waited in a queue may be from before a world's reset."""

STATE = keep_last(1, ReliabilityPolicy.RELIABLE, late_joiners=True)
"""Profile for task state and pictures: the last one reaches late joiners, too.

A picture is larger than a socket's buffer: sent with best effort it hardly ever arrives whole.
"""

WHOLE = keep_last(2, ReliabilityPolicy.RELIABLE)
"""Profile for a reader of pictures of somebody else's camera, whatever it promises to late joiners."""

EVERY = keep_last(1000, ReliabilityPolicy.RELIABLE)
"""Profile for contacts, places and events, of which none may be lost."""

ALIVE = keep_last(
    1,
    ReliabilityPolicy.RELIABLE,
    late_joiners=True,
    liveliness=LivelinessPolicy.AUTOMATIC,
    liveliness_lease_duration=Duration(seconds=LEASE_S),
)
"""Profile for a node's status: DDS tells readers when the writer's process dies or stops answering."""
