"""`--view web`: what the page does the session does, who may ask it, and what happens without it."""

import http.client
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from queue import Queue
from select import select
from typing import Any
from urllib.parse import urlsplit

import pytest
from rich.console import Console
from websockets.sync.client import ClientConnection, connect

import spca
from spca import web_page
from spca.console import Progress
from spca.conversation import Conversation
from spca.journal import Event
from spca.web_page import LOST, WebPage
from spca_core.errors import InputError
from spca_core.result import Ending

TOWER = "build a tower of all cubes"
FOREIGN = "http://evil.example"
_MOST_S = 240.0


class Browser:
    """One page that is open: `state` is what it shows."""

    def __init__(self, address: str) -> None:
        url = urlsplit(address)
        self._socket: ClientConnection = connect(f"ws://{url.netloc}/socket?{url.query}", max_size=None)
        self.state: dict[str, Any] = {}

    def until(self, holds: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        while not (self.state and holds(self.state)):
            self.state |= json.loads(self._socket.recv(_MOST_S))
        return self.state

    def send(self, **order: Any) -> None:
        self._socket.send(json.dumps(order))

    def say(self, sentence: str) -> None:
        self.until(lambda s: s["ready"])
        self.send(say=sentence)
        self.until(lambda s: not s["ready"])

    def heard(self) -> str:
        """The last line when all is done."""
        return str(self.until(lambda s: s["ready"])["talk"][-1]["text"])

    def result(self) -> str:
        """How the order has ended, before the last line."""
        return str(self.until(lambda s: s["ready"])["talk"][-2]["text"])

    def close(self) -> None:
        self._socket.close()


def bare() -> closing[WebPage]:
    """A page without a session."""
    return closing(WebPage(None, 0))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def runs_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spca_core.run_folder.RunFolder.create.__func__.__defaults__", (None, tmp_path))
    monkeypatch.setattr("spca.run_command.write_report", lambda folder: folder)


class Talking:
    """A session in a thread of its own that does what is typed on its page, as `spca do` does."""

    def __init__(self) -> None:
        self._opened, self._over = threading.Event(), threading.Event()
        self.reasons: Queue[str] = Queue()
        """Why each run has ended."""
        self._thread = threading.Thread(target=self._talk)
        self._thread.start()
        assert self._opened.wait(_MOST_S)

    def _talk(self) -> None:
        progress = Progress(Console(quiet=True))

        def hear(event: Event) -> None:
            if event.kind == "run_ended":
                self.reasons.put(event.text)

        with spca.session(view="web", report=False, on_event=hear) as self.table:
            self._opened.set()
            Conversation(self.table, progress).on_page(None, self._over.is_set)

    def browser(self) -> Browser:
        return Browser(self.table.page.address)

    def end(self) -> None:
        self._over.set()
        self._thread.join(_MOST_S)


@pytest.fixture(scope="module")
def talking() -> Iterator[Talking]:
    talking = Talking()
    yield talking
    talking.end()


@pytest.mark.slow
class TestOnePage:
    def test_a_sentence_is_shown_done_and_undone(self, talking: Talking) -> None:
        page = talking.browser()
        assert page.heard() == "This is the table. What is to be done?" and page.state["picture"]
        page.say("what do you see?")
        assert "red cube" in page.heard() and page.state["picture"].startswith("data:image/jpeg;base64,")
        page.until(lambda s: len({shape["body"] for shape in s["shapes"]}) > 10 and s["poses"])
        page.say("put the red cube on the blue plate")
        arm = page.until(lambda s: [step["mark"] for step in s["plan"]] == ["done", ""])["poses"]
        assert page.result() == "success: seen to hold: the red cube on the blue plate"
        assert page.state["goal"] == "the red cube on the blue plate" and page.state["poses"] != arm
        page.send(asks=True)
        page.say("put the green cube on the red plate")
        first = page.until(lambda s: s["question"])["asked"]
        page.send(approve=False, asked=first)
        assert "not approved" in page.result()
        assert {step["mark"] for step in page.state["plan"]} == {""}, "nothing was moved"
        page.say("undo")  # of what has moved, not of what was refused
        page.until(lambda s: s["question"])
        assert "the red cube at x = " in page.state["goal"]
        late = talking.browser()  # its Refuse is of the question before
        late.send(approve=False, asked=first)
        late.send(asks=False)
        page.until(lambda s: not s["asks"])
        late.close()
        page.send(approve=True, asked=page.state["asked"])
        assert page.result().startswith("success: seen to hold: the red cube at x = ")
        page.close()

    def test_stop_stops_the_arm_and_the_session_stays(self, talking: Talking) -> None:
        page = talking.browser()
        page.say(TOWER)
        page.until(lambda s: s["plan"] and s["doing"] == "acting")
        page.send(stop=True)
        page.until(lambda s: s["ready"])
        assert talking.table.runs[-1].result.reason.startswith("stopped")
        page.say("where is the blue cube?")
        assert page.heard().startswith("The blue cube is ")
        page.close()

    @pytest.mark.parametrize("how", ["cut", "closed at once"])
    def test_what_the_page_has_ordered_ends_without_it(
        self, talking: Talking, how: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(web_page, "GRACE_S", 0.0)
        page = talking.browser()
        talking.reasons = Queue()
        page.say(TOWER)
        if how == "cut":
            page.until(lambda s: s["title"] == TOWER and s["plan"])
            page._socket.socket.shutdown(socket.SHUT_RDWR)
        else:
            page.close()
        assert talking.reasons.get(timeout=_MOST_S) == LOST
        again = talking.browser()
        assert again.result() == f"cancelled: {LOST}"
        again.close()

    def test_a_page_that_is_opened_again_in_time_changes_nothing(
        self, talking: Talking, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(web_page, "GRACE_S", _MOST_S)
        page = talking.browser()
        page.say("put the blue cube on the green plate")
        page.close()
        again = talking.browser()
        assert again.result().startswith("success")
        again.close()

    def test_who_has_not_the_key_or_comes_from_elsewhere_is_refused(self, talking: Talking) -> None:
        """A browser sends any site's requests to this machine: with its `Origin`, or under its name."""
        url = urlsplit(talking.table.page.address)
        port, own = url.port or 0, {"Host": url.netloc}
        paths = f"/?{url.query}", f"/socket?{url.query}", f"/report/1?{url.query}"
        assert asked(port, paths[0], own) == 200
        assert asked(port, paths[0], {"Host": "localhost:9000"}) == 200  # a forwarded port
        shaken = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
        shaken["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
        for path in paths:
            bare = path.partition("?")[0]
            for refused, headers in (
                (bare, own),
                (f"{bare}?key=other", own),
                (path, {"Host": "evil.example:8080"}),  # a name that was bound to this address
                (path, {**own, "Origin": FOREIGN}),
                (path, {"Host": "["}),
            ):
                assert asked(port, refused, {**shaken, **headers}) == 403, (refused, headers)

    def test_what_is_no_order_ends_that_page_alone(self, talking: Talking) -> None:
        other = talking.browser()
        for order, code in (({"run": "rm"}, "1003"), ({"say": "x" * 20_000}, "1009")):
            page = talking.browser()
            page.send(**order)
            with pytest.raises(Exception, match=code):
                page.until(lambda s: False)
        other.say("x" * 1001)
        assert other.heard() == "a sentence has at most 1000 characters, and this one has 1001"
        other.close()


def test_stop_on_the_page_is_of_what_is_under_way_and_not_of_what_a_program_asks_for_next() -> None:
    page: Browser | None = None

    def hear(event: Event) -> None:
        if event.kind == "plan" and page is not None:
            page.send(stop=True)
            while not table.stopping:
                time.sleep(0.01)

    with spca.session(view="web", report=False, on_event=hear) as table:
        page = Browser(table.page.address)
        assert table.do("touch the red cube").result.reason.startswith("stopped")
        page.close()
        page = None
        assert table.do("touch the red cube").result.outcome is not Ending.CANCELLED


def test_where_no_page_can_be_served_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a network namespace without a loopback interface."""
    monkeypatch.setattr(web_page, "HOST", "192.0.2.1")  # of a network that is nowhere (RFC 5737)
    with pytest.raises(InputError, match=r"no page can be served on 192\.0\.2\.1"):
        WebPage(None)  # type: ignore[arg-type]


def test_what_strangers_ask_is_not_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with bare() as page, pytest.MonkeyPatch.context() as patch:
        url = urlsplit(page.address)
        capfd.readouterr()
        patch.setattr(logging.root, "handlers", [])  # as without pytest's own
        assert asked(url.port or 0, "/steers", {"Host": url.netloc}) == 404
        assert asked(url.port or 0, "/?key=%ff", {"Host": url.netloc}) == 400
    assert capfd.readouterr().err == ""


def test_connections_of_strangers_cost_few_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any program on this machine may open some, and a run that has no descriptors left ends."""
    monkeypatch.setattr(web_page, "GRACE_S", _MOST_S)  # so that none is closed only because it is idle
    with bare() as page, ExitStack() as opened:
        url = urlsplit(page.address)
        assert asked(url.port or 0, f"/report/{'9' * 5000}?{url.query}", {"Host": url.netloc}) == 404
        before = len(os.listdir("/proc/self/fd"))
        strangers = [socket.create_connection((url.hostname, url.port)) for _ in range(300)]
        for stranger in strangers:
            opened.callback(stranger.close)
        end = time.monotonic() + 30.0
        while len(refused := select(strangers, [], [], 1.0)[0]) < 200 and time.monotonic() < end:
            time.sleep(0.05)
        assert len(refused) >= 200 and len(os.listdir("/proc/self/fd")) - before - 300 < 100


def asked(port: int, path: str, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    connection.close()
    return response.status
