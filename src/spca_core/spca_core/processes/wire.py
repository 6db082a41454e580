"""The child's side: its limits, and its end of the pipes.

Messages are a 4-byte big-endian length, then JSON in ASCII.
"""

from __future__ import annotations

import json
import os
import resource
import struct
from typing import Any


def limit(kind: int, most: int) -> None:
    """Set a limit of `resource.RLIMIT_…`, hard and soft alike: `most`, or less where no more is allowed."""
    highest = resource.getrlimit(kind)[1]
    value = most if highest == resource.RLIM_INFINITY else min(most, highest)
    resource.setrlimit(kind, (value, value))


class Wire:
    """Blocking reads of standard input, and writes. A closed pipe, whose owner is gone, ends the process."""

    def __init__(self, max_bytes: int = 1 << 16, write_fd: int = 1, tidies: bool = False) -> None:
        """`max_bytes` bounds what is sent. A child that `tidies` up gets an EOFError from a closed pipe."""
        self.max_bytes, self._write_fd, self._tidies = max_bytes, write_fd, tidies

    def receive(self) -> Any:
        """Return the owner's next message. Nothing is read ahead: the pipe tells if another has come."""
        (length,) = struct.unpack(">I", self._read(4))
        return json.loads(self._read(length))

    def send(self, message: Any) -> None:
        """Send one message. Raises ValueError for what JSON cannot say, or says at too great a length."""
        body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        if len(body) > self.max_bytes:
            raise ValueError(f"too much data at once: {len(body)} bytes, {self.max_bytes} allowed")
        data = struct.pack(">I", len(body)) + body
        while data:
            data = data[os.write(self._write_fd, data) :]

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = os.read(0, count - len(data))
            if not chunk and self._tidies:
                raise EOFError("the owner of this process has gone")
            if not chunk:
                os._exit(0)
            data += chunk
        return data


def wire_of_service(max_bytes: int) -> Wire:
    """Return the wire of a child that answers questions; its end raises EOFError.

    Standard output becomes standard error, so that what libraries print cannot get between the messages.
    """
    messages = os.dup(1)
    os.dup2(2, 1)
    return Wire(max_bytes, messages, tidies=True)
