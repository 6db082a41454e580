"""Simulated seconds from and to ROS times."""

from __future__ import annotations

from builtin_interfaces.msg import Duration, Time

_NANO = 1_000_000_000


def time_msg(seconds: float) -> Time:
    """Return the time `seconds` after the clock's zero, to the nanosecond. Raises ValueError if negative."""
    if not seconds >= 0:
        raise ValueError(f"a ROS time cannot be {seconds} s")
    nanoseconds = round(seconds * _NANO)
    return Time(sec=nanoseconds // _NANO, nanosec=nanoseconds % _NANO)


def seconds(stamp: Time | Duration) -> float:
    """Return the seconds of a time or a duration, rounded to the nanosecond that it was given in."""
    return round(stamp.sec + stamp.nanosec / _NANO, 9)


def duration_msg(seconds: float) -> Duration:
    """Return `seconds` as a duration, to the nanosecond."""
    nanoseconds = round(seconds * _NANO)
    return Duration(sec=nanoseconds // _NANO, nanosec=nanoseconds % _NANO)
