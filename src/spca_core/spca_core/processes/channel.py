"""The owner's end of the pipes to a child process. All received messages are untrusted."""

from __future__ import annotations

import json
import math
import os
import select
import time
from typing import Any, NoReturn

from spca_core.errors import Interrupted
from spca_core.stopping import Stop, never

_SLICE_S = 0.02
_CHUNK = 1 << 16


class ChannelClosed(Exception):
    """The child has closed its end, most likely by dying, or counts as dead."""


class ChannelTimeout(Exception):
    """The child has not answered, or not read, in time."""


class Malformed(Exception):
    """The message violates the protocol."""


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number that is not finite")
    return value


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


class Channel:
    """Length-prefixed JSON objects over non-blocking pipes.

    Every wait has a deadline in `time.monotonic` seconds, and ends when `gone` holds: the process at the
    other end does not run any more, though it has not closed its end (see `Child.stopped`).
    """

    def __init__(self, read_fd: int, write_fd: int, max_bytes: int, gone: Stop = never) -> None:
        self._in, self._out, self._max, self._gone = read_fd, write_fd, max_bytes, gone
        self._buffer = bytearray()
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(read_fd, select.POLLIN)
        self._writable.register(write_fd, select.POLLOUT)

    def send(self, message: Any, deadline: float, stop: Stop = never) -> None:
        """Send one message.

        Raises ValueError (too long, or no JSON), ChannelTimeout, ChannelClosed, or Interrupted when `stop`
        holds.
        """
        body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
        if len(body) > self._max:
            raise ValueError(f"too much data at once: {len(body)} bytes, {self._max} allowed")
        data = memoryview(len(body).to_bytes(4, "big") + body)
        while data:
            try:
                data = data[os.write(self._out, data) :]
            except BlockingIOError:
                self._wait(self._writable, deadline, stop)
            except OSError as error:
                raise ChannelClosed(str(error)) from error

    def receive(self, deadline: float, stop: Stop = never) -> dict[str, Any]:
        """Wait for the next message and return it.

        Raises ChannelTimeout, ChannelClosed, Malformed, or Interrupted when `stop` holds.
        """
        while True:
            end = 4 + int.from_bytes(self._buffer[:4], "big")
            if len(self._buffer) >= 4 and end - 4 > self._max:
                raise Malformed(f"a message of {end - 4} bytes, {self._max} allowed")
            if len(self._buffer) >= end:  # until then the header stays: the wait for the rest may end
                body = bytes(self._buffer[4:end])
                del self._buffer[:end]
                return _parse(body)
            try:
                chunk = os.read(self._in, _CHUNK)
            except BlockingIOError:
                self._wait(self._readable, deadline, stop)
                continue
            except OSError as error:
                raise ChannelClosed(str(error)) from error
            if not chunk:
                raise ChannelClosed("end of file")
            self._buffer += chunk

    def quiet(self) -> bool:
        """Return whether the other end is open and has sent nothing unsolicited."""
        return not self._buffer and not self._readable.poll(0) and not self._gone()

    def _wait(self, poll: select.poll, deadline: float, stop: Stop) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise ChannelTimeout
        if stop():
            raise Interrupted
        if self._gone():
            raise ChannelClosed("the process does not run")
        poll.poll(1000 * (left if stop is self._gone is never else min(left, _SLICE_S)))


def _parse(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body, parse_float=_finite, parse_constant=_no_constant)
        if b"\\u" in body or b"\xed" in body:
            json.dumps(message, ensure_ascii=False).encode()  # lone surrogates cannot be printed
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not a message: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("op"), str):
        raise Malformed("not a message: no operation")
    return message
