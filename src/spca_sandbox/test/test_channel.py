"""The narrow channel: whatever JSON goes through unchanged, whatever else is refused."""

import contextlib
import os
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca_core.errors import Interrupted
from spca_core.processes.child import Channel, ChannelClosed, ChannelTimeout, Malformed
from spca_sandbox.host import SkillHost

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def echo() -> Iterator[SkillHost]:
    with SkillHost() as host:
        host.load("def echo(x): return x")
        yield host


@given(value=JSON)
def test_values_come_back_from_the_worker_as_they_went(echo: SkillHost, value: Any) -> None:
    assert echo.call("echo", [value]).value == value


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
