"""Messages across the border of a judge's process: plain values and arrays; both ends import this file.

A message is a 4-byte big-endian length, JSON, and the bytes of its arrays one after the other; in the JSON an
array is `{"array": [number, shape, type]}`. Only Python's own library and numpy are needed.
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

import numpy as np

PROTOCOL = 1
MOST_BYTES = 1 << 26


class Ended(Exception):
    """The other end is gone."""


def send(stream: BinaryIO, message: dict[str, Any]) -> None:
    """Send one message. Raises Ended."""
    arrays: list[np.ndarray] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays.append(np.ascontiguousarray(value))
            return {"array": [len(arrays) - 1, list(value.shape), str(value.dtype)]}
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"a {type(value).__name__} cannot be sent")

    head = json.dumps(message, default=plain).encode()
    try:
        stream.write(struct.pack(">I", len(head)) + head)
        for array in arrays:
            stream.write(array.tobytes())
        stream.flush()
    except (BrokenPipeError, ValueError) as error:
        raise Ended from error


def receive(stream: BinaryIO) -> dict[str, Any]:
    """Return the next message. Raises Ended, and ValueError for what is no message."""
    (length,) = struct.unpack(">I", _read(stream, 4))
    if length > MOST_BYTES:
        raise ValueError(f"a message of {length} bytes")
    waiting: list[tuple[int, tuple[int, ...], np.dtype]] = []

    def found(value: dict[str, Any]) -> Any:
        if list(value) == ["array"]:
            number, shape, kind = value["array"]
            waiting.append((number, tuple(shape), np.dtype(kind)))
            return waiting[-1]
        return value

    message = json.loads(_read(stream, length), object_hook=found)
    arrays = {}
    for entry in sorted(waiting, key=lambda w: w[0]):
        _, shape, kind = entry
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        if size > MOST_BYTES or kind.hasobject:
            raise ValueError(f"an array of {size} bytes of {kind}")
        arrays[entry[0]] = np.frombuffer(_read(stream, size), dtype=kind).reshape(shape)
    return dict(_filled(message, arrays))


def _filled(value: Any, arrays: dict[int, np.ndarray]) -> Any:
    if isinstance(value, tuple):
        return arrays[value[0]]
    if isinstance(value, dict):
        return {key: _filled(inner, arrays) for key, inner in value.items()}
    return [_filled(inner, arrays) for inner in value] if isinstance(value, list) else value


def _read(stream: BinaryIO, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = stream.read(count - len(data))
        if not chunk:
            raise Ended
        data += chunk
    return data
