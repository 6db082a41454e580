"""The narrow channel: what goes through it whole, and what is refused."""

import contextlib
import os
import struct
import time
from collections.abc import Iterator

import pytest

from spca_core.errors import Interrupted
from spca_core.processes.child import Channel, ChannelClosed, ChannelTimeout, Malformed


@pytest.fixture
def ends() -> Iterator[tuple[Channel, int, int]]:
    """A channel, the fd that feeds it, the fd it writes to."""
    inward, feed = os.pipe()
    sink, outward = os.pipe()
    yield Channel(inward, outward, 1000), feed, sink
    for fd in (inward, outward, feed, sink):
        with contextlib.suppress(OSError):
            os.close(fd)


Ends = tuple[Channel, int, int]


def test_messages_in_pieces_and_a_closed_end(ends: Ends) -> None:
    channel, feed, _ = ends
    body = b'{"op": "done", "value": 1}'
    os.write(feed, struct.pack(">I", len(body)) + body[:5])
    for rest in (body[5:9], body[9:]):
        with pytest.raises(ChannelTimeout):
            channel.receive(time.monotonic() + 0.05)
        os.write(feed, rest)
    assert channel.receive(time.monotonic() + 5) == {"op": "done", "value": 1}
    assert channel.quiet()
    os.close(feed)
    assert not channel.quiet()
    with pytest.raises(ChannelClosed):
        channel.receive(time.monotonic() + 5)


def test_what_is_too_long_a_reader_that_does_not_read_and_a_stop(ends: Ends) -> None:
    channel, feed, _ = ends
    with pytest.raises(ValueError, match="too much data"):
        channel.send("x" * 2000, time.monotonic() + 5)
    with pytest.raises(ChannelTimeout):
        for _ in range(1000):
            channel.send("x" * 900, time.monotonic() + 0.05)
    with pytest.raises(Interrupted):
        channel.receive(time.monotonic() + 5, stop=lambda: True)
    os.write(feed, struct.pack(">I", 1001))
    with pytest.raises(Malformed, match="1001 bytes"):
        channel.receive(time.monotonic() + 5)
