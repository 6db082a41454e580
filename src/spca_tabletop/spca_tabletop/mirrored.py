"""Converts records to the messages of `spca_interfaces` that mirror them, in the plain form of MCAP's writer.

The same rules as in `spca_ros.convert.records`, without ROS: fields have the same names, an optional one is a
sequence of at most one element, and what a message has beyond its record stays empty.
"""

from __future__ import annotations

from typing import Any

from spca_core.geometry import Pose
from spca_tabletop.message_definitions import Field, fields

Message = dict[str, Any]

_NO_VALUE = {"string": "", "bool": False}


def mirrored(datatype: str, record: Any) -> Message:
    """The message of type `package/Name` for a record.

    Its `header` is the record's stamp in frame `world`.
    """
    message: Message = {}
    for field in fields(datatype):
        if field.type == "std_msgs/Header":
            message[field.name] = header(record.stamp)
        else:
            message[field.name] = _slot(field, getattr(record, field.name, None))
    return message


def _slot(field: Field, value: Any) -> Any:
    if field.array == "one":
        return [] if value is None else [_element(field.type, value)]
    if field.array:
        items = value.items() if isinstance(value, dict) else value or ()
        return [_element(field.type, item) for item in items]
    return _element(field.type, value)


def _element(datatype: str, value: Any) -> Any:
    if datatype == "builtin_interfaces/Time":
        return time(value)
    if datatype == "geometry_msgs/Pose":
        return pose(value)
    if datatype == "geometry_msgs/Vector3":
        return vector(value)
    if "/" not in datatype:
        plain = getattr(value, "value", value)  # an enum's
        return _NO_VALUE.get(datatype, 0) if plain is None else plain
    if isinstance(value, tuple):  # a name with what belongs to it
        return {
            field.name: _element(field.type, item)
            for field, item in zip(fields(datatype), value, strict=True)
        }
    return mirrored(datatype, value)


def time(stamp: float) -> Message:
    """`builtin_interfaces/Time` of simulated seconds."""
    nanoseconds = round(stamp * 1e9)
    return {"sec": nanoseconds // 1_000_000_000, "nanosec": nanoseconds % 1_000_000_000}


def header(stamp: float, frame: str = "world") -> Message:
    """`std_msgs/Header`."""
    return {"stamp": time(stamp), "frame_id": frame}


def vector(values: Any) -> Message:
    """`geometry_msgs/Vector3` or `Point` of three numbers."""
    x, y, z = (float(v) for v in values)
    return {"x": x, "y": y, "z": z}


def quaternion(wxyz: Any) -> Message:
    """`geometry_msgs/Quaternion` of four numbers, w first as MuJoCo has them."""
    w, x, y, z = (float(v) for v in wxyz)
    return {"x": x, "y": y, "z": z, "w": w}


def pose(of: Pose) -> Message:
    """`geometry_msgs/Pose`."""
    x, y, z, w = of.quaternion
    return {"position": vector(of.position), "orientation": quaternion((w, x, y, z))}
