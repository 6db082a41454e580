"""ROS messages without ROS: their definitions as MCAP carries them, and records in their plain form.

Records are converted by the rules of `spca_ros.convert.records`: fields have the same names, an optional one
is a sequence of at most one element, and what a message has beyond its record stays empty.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from spca_core.errors import SpcaError
from spca_core.geometry import Pose
from spca_core.paths import ROOT, share

_SEPARATOR = "=" * 80
_PRIMITIVE = re.compile(r"(?:bool|byte|char|float(?:32|64)|u?int(?:8|16|32|64)|w?string)$")
_STANDARD = Path(__file__).with_name("standard_messages.txt")
"""File with the fields of ROS's own messages that a log uses, for where no ROS is installed."""

Message = dict[str, Any]


@cache
def definition(datatype: str) -> str:
    """Return the text of `package/Name` followed by all it is made of.

    Raises SpcaError when a definition is not installed.
    """
    texts, queue = dict[str, str](), [datatype]
    while queue:
        if (needed := queue.pop(0)) not in texts:
            texts[needed] = _text(needed)
            queue += [field.type for field in fields(needed) if not _PRIMITIVE.match(field.type)]
    own = texts.pop(datatype)
    return "\n".join([own, *(f"{_SEPARATOR}\nMSG: {name}\n{text}" for name, text in texts.items())])


class Field(NamedTuple):
    """A field of a message.

    `type` includes its package; `array` is `many`, `one` (at most one element) or empty.
    """

    type: str
    array: str
    name: str


@cache
def fields(datatype: str) -> tuple[Field, ...]:
    """Return the fields of `package/Name` in their order, without constants.

    Raises SpcaError as `definition` does.
    """
    package = datatype.split("/", maxsplit=1)[0]
    found = []
    for line in _text(datatype).splitlines():
        match = re.match(r"\s*([A-Za-z][\w/]*)(<=\d+)?(\[[^\]]*\])?\s+(\w+)\s*(=?)", line.split("#")[0])
        if not match or match[5]:
            continue
        plain = _PRIMITIVE.match(match[1]) or "/" in match[1]
        name = match[1].replace("/msg/", "/") if plain else f"{package}/{match[1]}"
        array = "one" if match[3] == "[<=1]" else "many" if match[3] else ""
        found.append(Field(name, array, match[4]))
    return tuple(found)


@cache
def _text(datatype: str) -> str:
    package, name = datatype.split("/")
    installed = share(package)
    if installed is not None and (path := installed / "msg" / f"{name}.msg").is_file():
        return path.read_text()
    source = ROOT / "src" / package / "msg" / f"{name}.msg"
    if source.is_file():
        return source.read_text()
    if datatype in (standard := standard_messages()):
        return standard[datatype]
    raise SpcaError(f"the definition of message {datatype} is not installed")


@cache
def standard_messages() -> dict[str, str]:
    """Return the texts of ROS's own messages, by `package/Name`, as spca brings them."""
    parts = _STANDARD.read_text().split("MSG: ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def mirrored(datatype: str, record: Any) -> Message:
    """Return the message of type `package/Name` for a record.

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
        return getattr(value, "value", value)  # an enum's; None is written as the default
    if isinstance(value, tuple):  # a name with what belongs to it
        return {of.name: _element(of.type, item) for of, item in zip(fields(datatype), value, strict=True)}
    return mirrored(datatype, value)


def time(stamp: float) -> Message:
    """Return a `builtin_interfaces/Time` of simulated seconds."""
    nanoseconds = round(stamp * 1e9)
    return {"sec": nanoseconds // 1_000_000_000, "nanosec": nanoseconds % 1_000_000_000}


def header(stamp: float, frame: str = "world") -> Message:
    """Return a `std_msgs/Header` with a stamp in simulated seconds."""
    return {"stamp": time(stamp), "frame_id": frame}


def vector(values: Any) -> Message:
    """Return a `geometry_msgs/Vector3` or `Point` of three numbers."""
    return dict(zip("xyz", map(float, values), strict=True))


def quaternion(wxyz: Any) -> Message:
    """Return a `geometry_msgs/Quaternion` of four numbers, w first as MuJoCo has them."""
    return dict(zip("wxyz", map(float, wxyz), strict=True))


def pose(of: Pose) -> Message:
    """Return a `geometry_msgs/Pose`."""
    return {"position": vector(of.position), "orientation": dict(zip("xyzw", of.quaternion, strict=True))}
