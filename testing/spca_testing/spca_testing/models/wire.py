"""The server's end of one HTTP connection, down to its socket."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any


class Wire:
    """Channel that a behaviour writes its answer to. A client that has gone away is not an error."""

    def __init__(self, handler: BaseHTTPRequestHandler, closing: threading.Event) -> None:
        self._handler = handler
        self._closing = closing

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Status line and headers."""
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        with contextlib.suppress(OSError):
            self._handler.end_headers()

    def write(self, data: bytes) -> bool:
        """Part of the body; False when nobody listens any more."""
        try:
            self._handler.wfile.write(data)
            self._handler.wfile.flush()
        except OSError:
            return False
        return True

    def body(
        self, status: int, data: bytes, content_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer."""
        self.head(status, {"content-type": content_type, "content-length": str(len(data)), **(headers or {})})
        self.write(data)

    def json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer in JSON."""
        self.body(status, json.dumps(value).encode(), "application/json", headers)

    def wait(self, seconds: float) -> bool:
        """Wait; True when the server closes meanwhile."""
        return self._closing.wait(seconds)

    def hang_up(self) -> None:
        """End the connection after this answer."""
        self._handler.close_connection = True

    def reset(self) -> None:
        """End the connection at once, with a TCP reset."""
        on, no_linger = 1, 0
        connection = self._handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", on, no_linger))
        self.hang_up()
        connection.close()
