"""Quality of service, by what is sent."""

from __future__ import annotations

from typing import Any

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

LEASE_S = 2.0
"""Wall seconds without a sign of life after which a node counts as lost."""


def keep_last(
    depth: int, reliability: ReliabilityPolicy, *, late_joiners: bool = False, **more: Any
) -> QoSProfile:
    """Keep the last `depth` messages; `late_joiners` get what was sent before they came."""
    durability = DurabilityPolicy.TRANSIENT_LOCAL if late_joiners else DurabilityPolicy.VOLATILE
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=depth, reliability=reliability, durability=durability, **more
    )


SENSOR = keep_last(5, ReliabilityPolicy.BEST_EFFORT)
"""Joint states: the newest counts, an old one is worth nothing."""

NEWEST = keep_last(1, ReliabilityPolicy.BEST_EFFORT)
"""For a reader of joint states: one that waited in a queue may be from before a reset of the world."""

STATE = keep_last(1, ReliabilityPolicy.RELIABLE, late_joiners=True)
"""Task state and pictures: the last one reaches late joiners too.

A picture is larger than a socket's buffer: sent with best effort it hardly ever arrives whole.
"""

WHOLE = keep_last(2, ReliabilityPolicy.RELIABLE)
"""For a reader of the pictures of somebody else's camera, whatever it promises to late joiners."""

EVERY = keep_last(1000, ReliabilityPolicy.RELIABLE)
"""Contacts, places and events: none may be lost."""

ALIVE = keep_last(
    1,
    ReliabilityPolicy.RELIABLE,
    late_joiners=True,
    liveliness=LivelinessPolicy.AUTOMATIC,
    liveliness_lease_duration=Duration(seconds=LEASE_S),
)
"""A node's status: DDS notifies its readers when the writer's process dies or stops answering."""
