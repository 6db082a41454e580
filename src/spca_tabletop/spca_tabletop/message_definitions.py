"""ROS message definitions as self-contained text, the form in which an MCAP file carries its schemas."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from spca_core.errors import SpcaError
from spca_core.paths import ROOT, share

_SEPARATOR = "=" * 80
_PRIMITIVES = frozenset(
    [
        "bool",
        "byte",
        "char",
        "float32",
        "float64",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "string",
        "wstring",
    ]
)
_STANDARD = Path(__file__).with_name("standard_messages.txt")
"""The fields of ROS's own messages that a log uses, for where no ROS is installed."""


@cache
def definition(datatype: str) -> str:
    """The text of `package/Name` followed by all it is made of.

    Raises SpcaError when a definition is not installed.
    """
    parts = [_text(datatype)]
    seen = {datatype}
    queue = list(_uses(datatype))
    while queue:
        needed = queue.pop(0)
        if needed in seen:
            continue
        seen.add(needed)
        parts.append(f"{_SEPARATOR}\nMSG: {needed}\n{_text(needed)}")
        queue += _uses(needed)
    return "\n".join(parts)


class Field(NamedTuple):
    """A field of a message.

    `type` includes its package; `array` is `many`, `one` (at most one element) or empty.
    """

    type: str
    array: str
    name: str


@cache
def fields(datatype: str) -> tuple[Field, ...]:
    """The fields of `package/Name` in their order, without constants.

    Raises SpcaError as `definition` does.
    """
    package = datatype.split("/", maxsplit=1)[0]
    found = []
    for line in _text(datatype).splitlines():
        match = re.match(r"\s*([A-Za-z][\w/]*)(<=\d+)?(\[[^\]]*\])?\s+(\w+)\s*(=?)", line.split("#")[0])
        if not match or match[5]:
            continue
        plain = match[1] in _PRIMITIVES or "/" in match[1]
        name = match[1].replace("/msg/", "/") if plain else f"{package}/{match[1]}"
        array = "one" if match[3] == "[<=1]" else "many" if match[3] else ""
        found.append(Field(name, array, match[4]))
    return tuple(found)


def _uses(datatype: str) -> list[str]:
    return [field.type for field in fields(datatype) if field.type not in _PRIMITIVES]


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
    """The texts of ROS's own messages, by `package/Name`, as spca brings them."""
    parts = _STANDARD.read_text().split("MSG: ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}
