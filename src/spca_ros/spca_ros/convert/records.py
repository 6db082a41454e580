"""Records from and to the messages of `spca_interfaces` that mirror them: the same names, the same nesting.

    to_msg(plan, spca_interfaces.msg.Plan())         from_msg(Plan, message)

An optional field is a sequence of at most one element, or a number that is 0 for None. What a message has
beyond its record (`attempt` of a verdict, say) is left alone on the way there and dropped on the way back.
Where the two differ in shape, `_SHAPES` says how. The record's own validation judges what comes in.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from pydantic import BaseModel
from spca_interfaces.msg import ModelPose, SymbolKind, TypedParameter
from std_msgs.msg import Header

from spca_core import geometry

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


_R = TypeVar("_R", bound=BaseModel)
_M = TypeVar("_M")

WORLD_FRAME = "world"


def to_msg(record: BaseModel, message: _M) -> _M:
    """Fill `message` from the record it mirrors, and return it."""
    for name, slot in _slots(message).items():
        if hasattr(record, slot.field):
            setattr(message, name, _to_slot(getattr(record, slot.field), slot))
    return message


def from_msg(kind: type[_R], message: Any) -> _R:
    """Return the record of that kind that `message` mirrors.

    Raises pydantic's ValidationError for impossible values.
    """
    return kind.model_validate(_plain(message, kind))


class _Slot(NamedTuple):
    field: str
    """Name of the record's field: a header is the record's stamp, in frame `world`."""
    many: bool
    optional: bool
    message: type | None
    """Message class of the element; None for strings and numbers."""


_SEQUENCE = re.compile(r"sequence<(?P<element>[^,>]+)(?:, (?P<bound>\d+))?>")


def _slots(message: Any) -> dict[str, _Slot]:
    """Return the fields of a message's class."""
    return {name: _slot(name, text) for name, text in message.get_fields_and_field_types().items()}


@cache
def _slot(name: str, text: str) -> _Slot:
    match = _SEQUENCE.fullmatch(text)
    element = match["element"] if match else text
    message = None
    if "/" in element:
        package, kind = element.split("/")
        message = getattr(importlib.import_module(f"{package}.msg"), kind)
    bound = match["bound"] if match else None
    field = "stamp" if name == "header" else name
    return _Slot(field, match is not None and bound != "1", bound == "1", message)


class _Shape(NamedTuple):
    to_message: Callable[[Any], Any]
    to_value: Callable[[Any], Any]


def pose_msg(pose: geometry.Pose) -> Pose:
    """Return a pose as a message."""
    x, y, z = pose.position
    qx, qy, qz, qw = pose.quaternion
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def pose_from_msg(message: Pose) -> geometry.Pose:
    """Return the pose in a message."""
    return geometry.Pose.model_validate(_pose_value(message))


def _pose_value(m: Pose) -> dict[str, Any]:
    p, q = m.position, m.orientation
    return {"position": (p.x, p.y, p.z), "quaternion": (q.x, q.y, q.z, q.w)}


_SHAPES: dict[type, _Shape] = {
    Time: _Shape(time_msg, seconds),
    Pose: _Shape(pose_msg, _pose_value),
    Vector3: _Shape(lambda v: Vector3(x=v[0], y=v[1], z=v[2]), lambda m: (m.x, m.y, m.z)),
    Header: _Shape(lambda t: Header(stamp=time_msg(t), frame_id=WORLD_FRAME), lambda m: seconds(m.stamp)),
    TypedParameter: _Shape(lambda p: TypedParameter(name=p[0], type=p[1]), lambda m: (m.name, m.type)),
    SymbolKind: _Shape(lambda p: SymbolKind(symbol=p[0], kind=p[1]), lambda m: (m.symbol, m.kind)),
    ModelPose: _Shape(
        lambda p: ModelPose(model=p[0], pose=pose_msg(p[1])), lambda m: (m.model, _pose_value(m.pose))
    ),
}
_PAIRS = (SymbolKind, ModelPose)  # a sequence of these is a mapping on the other side


def _to_slot(value: Any, slot: _Slot) -> Any:
    if slot.optional:
        return [] if value is None else [_to_element(value, slot.message)]
    if slot.many:
        items = value.items() if isinstance(value, dict) else value
        return [_to_element(item, slot.message) for item in items]
    return _to_element(value, slot.message)


def _to_element(value: Any, message: type | None) -> Any:
    if message in _SHAPES:
        return _SHAPES[message].to_message(value)
    if message is not None:
        return to_msg(value, message())
    if isinstance(value, str):
        return clean_text(value)
    return 0 if value is None else value


def clean_text(text: str) -> str:
    """Return text that survives the wire: a NUL would end it there, a lone surrogate cannot be encoded."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _plain(message: Any, kind: type[BaseModel]) -> dict[str, Any]:
    """Return a message's fields as plain values, under the names of the record."""
    values: dict[str, Any] = {}
    for name, slot in _slots(message).items():
        if (field := kind.model_fields.get(slot.field)) is None:
            continue
        nested = _record_in(field.annotation)
        value = getattr(message, name)
        if slot.optional:
            value = _to_value(value[0], slot, nested) if len(value) else None
        elif slot.many:
            items = [_to_value(item, slot, nested) for item in value]
            value = dict(items) if slot.message in _PAIRS else tuple(items)
        else:
            value = _to_value(value, slot, nested)
            if value == 0 and type(None) in get_args(field.annotation):
                value = None
        values[slot.field] = value
    return values


def _to_value(element: Any, slot: _Slot, nested: type[BaseModel] | None) -> Any:
    if slot.message in _SHAPES:
        return _SHAPES[slot.message].to_value(element)
    if slot.message is None:
        return element
    assert nested is not None, f"no record mirrors {slot.message}"
    return _plain(element, nested)


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """Return the record class within an annotation such as `tuple[Fact, ...]` or `Plan | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_record_in, get_args(annotation))), None)
