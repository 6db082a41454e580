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

from spca_core.errors import Interrupted, SpcaError
from spca_core.processes.child import Channel, ChannelClosed, ChannelTimeout, Malformed, _parse
from spca_core.skill import CtxApi, CtxMethod
from spca_sandbox.host import SkillHost
from spca_sandbox.process import clean
from spca_sandbox.surface import Surface

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


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(body: bytes) -> None:
    with contextlib.suppress(Malformed):
        assert isinstance(_parse(body)["op"], str)


@given(st.text(max_size=300), st.integers(1, 100))
def test_clean_text_is_short_and_printable(text: str, limit: int) -> None:
    shown = clean(text, limit)
    assert len(shown) <= limit
    assert shown.isprintable()
    shown.encode()


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


def test_messages_in_pieces(ends: Ends) -> None:
    channel, feed, _ = ends
    body = b'{"op": "done", "value": 1}'
    os.write(feed, struct.pack(">I", len(body)) + body + b"\0\0")
    assert channel.quiet() is False
    assert channel.receive(time.monotonic() + 5) == {"op": "done", "value": 1}
    os.write(feed, b"\0" + bytes([len(body)]) + body[:5])
    for rest in (body[5:9], body[9:]):
        with pytest.raises(ChannelTimeout):
            channel.receive(time.monotonic() + 0.05)
        os.write(feed, rest)
    assert channel.receive(time.monotonic() + 5) == {"op": "done", "value": 1}


def test_too_long(ends: Ends) -> None:
    channel, feed, _ = ends
    assert channel.quiet()
    os.write(feed, struct.pack(">I", 1001))
    with pytest.raises(Malformed, match="1001 bytes"):
        channel.receive(time.monotonic() + 5)
    with pytest.raises(ValueError, match="too much data"):
        channel.send("x" * 2000, time.monotonic() + 5)


def test_a_closed_end(ends: Ends) -> None:
    channel, feed, _ = ends
    os.close(feed)
    assert not channel.quiet()
    with pytest.raises(ChannelClosed):
        channel.receive(time.monotonic() + 5)


def test_a_reader_that_does_not_read_and_a_stop(ends: Ends) -> None:
    channel, _, _ = ends
    with pytest.raises(ChannelTimeout):
        for _ in range(1000):
            channel.send("x" * 900, time.monotonic() + 0.05)
    with pytest.raises(Interrupted):
        channel.receive(time.monotonic() + 5, stop=lambda: True)


def api(*signatures: str, helpers: tuple[str, ...] = ()) -> CtxApi:
    methods = tuple(CtxMethod(name=s.partition("(")[0], signature=s, doc="") for s in signatures)
    return CtxApi(environment="x", methods=methods, helpers=helpers)


def test_surfaces_are_read_from_the_apis_text() -> None:
    surface = Surface(
        api(
            "go(to: tuple[float, float] = (1, 2), *, fast: bool = False) -> None",
            helpers=(
                "box(a, b={'x': (1, 2)}) -> Box: a box",
                "UP = 'up'  # a direction",
                "metres and radians",
            ),
        )
    )
    assert surface.methods == ("go",)
    assert surface.records == {"box": [["a"], ["b", {"x": (1, 2)}]]}
    assert surface.constants == {"UP": "up"}
    surface.check("go", [(3, 4)], {"fast": True})
    with pytest.raises(TypeError, match=r"ctx\.go\(to=\(1, 2\), \*, fast=False\): too many positional"):
        surface.check("go", [1, 2], {})


@pytest.mark.parametrize(
    "bad", [api("go(to"), api("go(1)"), api(helpers=("f(x",)), api(helpers=("X = f()",))]
)
def test_a_bad_api_is_told_at_once(bad: CtxApi) -> None:
    with pytest.raises(SpcaError, match=r"not a Python signature|no constant"):
        Surface(bad)
