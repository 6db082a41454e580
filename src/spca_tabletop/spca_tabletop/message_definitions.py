"""ROS message definitions as self-contained text, the form in which an MCAP file carries its schemas."""

from __future__ import annotations

import re
from functools import cache

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
# Not among the packages from PyPI; the definition is that of geometry2.
_BUILTIN = {"tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms\n"}


@cache
def definition(datatype: str) -> str:
    """The text of `package/Name` followed by all it is made of. Raises SpcaError when a definition is not installed."""
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


def _uses(datatype: str) -> list[str]:
    package = datatype.split("/", maxsplit=1)[0]
    found = []
    for line in _text(datatype).splitlines():
        match = re.match(r"\s*([A-Za-z][\w/]*)(<=\d+)?(\[[^\]]*\])?\s+\w+", line.split("#")[0])
        if not match or match[1] in _PRIMITIVES:
            continue
        name = match[1] if "/" in match[1] else f"{package}/{match[1]}"
        found.append(name.replace("/msg/", "/"))
    return found


@cache
def _text(datatype: str) -> str:
    if datatype in _BUILTIN:
        return _BUILTIN[datatype]
    package, name = datatype.split("/")
    installed = share(package)
    if installed is not None and (path := installed / "msg" / f"{name}.msg").is_file():
        return path.read_text()
    source = ROOT / "src" / package / "msg" / f"{name}.msg"
    if source.is_file():
        return source.read_text()
    raise SpcaError(f"the definition of message {datatype} is not installed")
