"""Messages over the two pipes, as the worker sees them: a 4-byte big-endian length, then JSON in ASCII."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

IN, OUT = 0, 1


class Wire:
    """Blocking reads and writes; a closed pipe ends the process, for then nobody listens any more."""

    def __init__(self, max_bytes: int = 1 << 16) -> None:
        self.max_bytes = max_bytes

    def receive(self) -> Any:
        """The host's next message."""
        (length,) = struct.unpack(">I", self._read(4))
        return json.loads(self._read(length))

    def send(self, message: Any) -> None:
        """Send one message. Raises ValueError for what JSON cannot say, or says at too great a length."""
        body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        if len(body) > self.max_bytes:
            raise ValueError(f"too much data at once: {len(body)} bytes, {self.max_bytes} allowed")
        data = struct.pack(">I", len(body)) + body
        while data:
            data = data[os.write(OUT, data) :]

    @staticmethod
    def _read(count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = os.read(IN, count - len(data))
            if not chunk:
                os._exit(0)
            data += chunk
        return data
