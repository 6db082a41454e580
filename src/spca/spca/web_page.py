"""A page to speak to the robot: `--view web`, for every session: simulated here, over ROS, or a real arm.

What the page does the command line does: a sentence, Undo and Stop are the session's own, Approve answers
its question. It is served to this machine alone, to whoever has its address, which holds a key (a browser
lets any page ask this machine). From another one, forward the port: `ssh -L 8080:127.0.0.1:8080 …`.

What was ordered on the page needs the page, as nobody else could press Stop: when none has been open for
`GRACE_S` (closed, or the connection cut), the arm stops and the run ends. What the command line has ordered
goes on. A page that is opened again shows everything that it missed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, Queue
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from spca.console import DOING, plainly
from spca.interrupt import STOPPED
from spca.journal import Event
from spca.report import small_picture, templates
from spca.sessions import Session
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.plan import Plan
from spca_core.result import Ending
from spca_core.stopping import Stop, never

_T = TypeVar("_T")
HOST, PORT = "127.0.0.1", 8080
LOST = "the page was lost, and with it Stop"
GRACE_S = 5.0
"""Wall seconds for which an order stands without a page."""
PING_S = 3.0
"""Wall seconds between two questions whether a page is still there."""
_PERIOD_S, _LOOK_S = 1 / 12, 0.1  # wall seconds between two looks at the world, whether nobody waits any more
_TALK, _MOST = 60, 60  # lines of talk that are kept, open connections


class _Order(Record):
    """What a page says: one of these."""

    say: str = ""
    stop: bool = False
    approve: bool | None = None
    asked: int = 0
    """Number of the question that this approves or refuses; another page may have answered that one."""
    asks: bool | None = None


class WebPage:
    """The page of a session, from its making to `close`."""

    def __init__(self, session: Session, port: int = PORT) -> None:
        self._session = session
        self.key = secrets.token_urlsafe(16)
        self._sentences: Queue[str] = Queue()
        self._answers: Queue[bool] = Queue()
        self._telling = threading.Lock()
        self._reads = False  # the next sentence may come
        self._ours = False  # what is under way was ordered on the page
        self._stopped = ""  # why what was ordered is not to be done
        self._open: set[_Socket] = set()
        self._opened = threading.Event()
        self._state: dict[str, Any] = {
            "title": "", "goal": "", "plan": [], "talk": [], "doing": "", "ready": False, "question": "",
            "asked": 0, "asks": False, "picture": "", "shapes": [], "poses": [],
        }  # fmt: skip
        served: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, args=(port, served), daemon=True)
        self._thread.start()
        self.address = f"http://{HOST}:{served.result()}/?key={self.key}"
        print(f"  page    {self.address}", file=sys.stderr, flush=True)

    def await_viewer(self, most: float = 60.0) -> None:
        """Wait for somebody to open the page, at most so many seconds of wall time."""
        self._opened.wait(most)

    def read(self, ended: Stop = never) -> str:
        """The next sentence that is typed on the page; empty when `ended` holds."""
        self._ours, self._reads, self._stopped = False, True, ""
        self._tell(ready=True, doing="")
        if sentence := _next(self._sentences, ended) or "":
            self._reads = False
            self._tell(ready=False, doing="reading")
            self.say(sentence, "you")
        return sentence

    def approve(self, plan: Plan, goal: str) -> bool:
        """Whether the page says that a plan may be carried out; it is not asked unless it is to be."""
        if not self._state["asks"]:
            return True
        self._answers = Queue()
        count = f"{len(plan.steps)} step{'s' if len(plan.steps) != 1 else ''}"
        question, asked = f"Carry out {count} for: {goal}?", self._state["asked"] + 1
        self._tell(question=question, asked=asked, doing="waiting for Approve")
        try:
            return _next(self._answers, lambda: self._session.stopping) is True
        finally:
            self._tell(question="", doing=DOING["act"])

    def ask(self, asks: bool) -> None:
        """Have each plan wait for Approve from now on, or none."""
        self._tell(asks=asks)

    def say(self, text: str, mood: str = "", run: int = 0) -> None:
        """Show a line of the conversation: `you`, `good`, `bad` or plain; with the report of a run."""
        self._tell(talk=[*self._state["talk"][1 - _TALK :], {"text": text, "mood": mood, "run": run}])
        self._picture()

    def hear(self, event: Event) -> None:
        """Show an event of a run."""
        if event.kind == "run_started":
            self._tell(title=event.text, goal="", plan=[], ready=False, doing="starting")
            if self._stopped:  # before it had begun
                self._session.stop(self._stopped)
        elif event.kind == "stage_started":
            self._tell(doing=DOING.get(event.stage, event.stage))
        elif event.kind == "plan":
            self._tell(
                goal=event.text, plan=[{"text": plainly(step), "mark": ""} for step in event.data["steps"]]
            )
        elif event.kind == "step":
            plan = [dict(step) for step in self._state["plan"]]
            left = (s for s in plan if s["text"] == plainly(event.text) and s["mark"] != "done")
            next(left, {})["mark"] = event.data["status"]
            self._tell(plan=plan)
        elif event.kind == "round_failed":
            self.say(plainly(event.text), "bad")
        elif event.kind == "run_ended":
            words, done = event.data["words"], event.data["outcome"] == Ending.SUCCESS.value
            self._tell(goal=self._state["goal"] or f"none: {words}")
            talks = words in ("answered", "question")
            how = "" if talks or event.text.startswith(words) else f"{words}: "
            self.say(how + plainly(event.text), "" if talks else "good" if done else "bad")
            self._stopped = ""  # that run; what is asked for elsewhere next is another
            self._tell(ready=self._reads, doing="")
        elif event.kind == "stage_ended":
            self._picture()

    def _picture(self) -> None:
        """Show what the camera saw last; of a world that is gone nothing new."""
        there = self._session.environment
        if there is not None and (picture := there.picture()) is not None:
            self._tell(picture=small_picture(picture, 960))

    def close(self) -> None:
        """End the page."""
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    # --- the server's thread --------------------------------------------------------------------------------

    def _run(self, port: int, served: Future[int]) -> None:
        for told in ("access", "general"):  # strangers' requests, in their own words: not on the terminal
            logging.getLogger(f"tornado.{told}").addHandler(logging.NullHandler())
        try:
            asyncio.run(self._serve(port, served))
        except OSError as error:  # there is no loopback interface, or no descriptor left
            served.set_exception(InputError(f"no page can be served on {HOST}", hint=str(error)))

    async def _serve(self, port: int, served: Future[int]) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        routes = [(r"/", _Main), (r"/socket", _Socket), (r"/report/(\d{1,9})", _Report)]
        limits: dict[str, Any] = {"websocket_ping_interval": PING_S, "websocket_ping_timeout": PING_S}
        limits["websocket_max_message_size"] = 10_000  # bytes
        server = _Server(Application(routes, page=self, **limits), idle_connection_timeout=GRACE_S)
        try:
            sockets = bind_sockets(port, HOST)
        except OSError:  # another session has it
            sockets = bind_sockets(0, HOST)
        server.add_sockets(sockets)
        served.set_result(sockets[0].getsockname()[1])
        while not self._ended.is_set():
            if self._open:
                await self._look()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._ended.wait(), _PERIOD_S)
        server.stop()
        for socket in [*self._open]:
            socket.close()
        await server.close_all_connections()

    async def _look(self) -> None:
        """Show the robot and the things as they are known now."""
        there = self._session.environment
        try:
            scene = None if there is None else await self._loop.run_in_executor(None, there.drawn)
        except Exception:  # of a world that is being closed, or laid
            return
        if scene is None:
            return
        shapes = [shape.model_dump() for shape in scene.shapes]
        if shapes != self._state["shapes"]:
            self._tell(shapes=shapes, poses=scene.poses[0])
        elif scene.poses[0] != self._state["poses"]:
            self._tell(poses=scene.poses[0])

    def _tell(self, **news: Any) -> None:
        """Show it, from any thread; one who opens the page later sees it, too."""
        with self._telling:
            self._state = {**self._state, **news}
            self._loop.call_soon_threadsafe(lambda: self._write(news, *self._open))

    def _write(self, news: dict[str, Any], *sockets: _Socket) -> None:
        for socket in sockets:
            with suppress(WebSocketClosedError):  # it is told to be lost, too
                socket.write_message(news)

    def report(self, number: int) -> bytes:
        """The report of a run of the session; empty where there is none any more."""
        files = [run.report for run in self._session.runs[number - 1 : number]]
        return b"".join(file.read_bytes() for file in files if file)

    def opened(self, socket: _Socket) -> None:
        """A page is there: show it all."""
        self._open.add(socket)
        self._write(self._state, socket)
        self._opened.set()

    def lost(self, socket: _Socket) -> None:
        """A page is gone."""
        self._open.discard(socket)
        if self._ours and not self._open:
            self._loop.call_later(GRACE_S, self._miss)

    def _miss(self) -> None:
        if self._ours and not self._open:
            self._stop(LOST)

    def _stop(self, reason: str) -> None:
        self._stopped = reason
        threading.Thread(target=self._session.stop, args=(reason,), daemon=True).start()

    def take(self, order: _Order) -> None:
        """Do what a page says."""
        if order.stop:
            self._stop(STOPPED)
        if order.approve is not None and self._state["question"] and order.asked == self._state["asked"]:
            self._answers.put(order.approve)
        if order.asks is not None:
            self.ask(order.asks)
        if order.say.strip() and self._state["ready"]:
            self._tell(ready=False)  # one at a time
            self._ours, self._stopped = True, ""
            self._sentences.put(" ".join(order.say.split()))


def _next(queue: Queue[_T], ended: Stop) -> _T | None:
    """Wait for what comes next in a queue; None when `ended` holds."""
    while not ended():
        with suppress(Empty):
            return queue.get(timeout=_LOOK_S)
    return None


class _Server(HTTPServer):
    def handle_stream(self, stream: IOStream, address: Any) -> None:
        """Close a connection beyond `_MOST`: any program here may open some, and each takes a descriptor."""
        super().handle_stream(stream, address) if len(self._connections) < _MOST else stream.close()


class _Guarded(RequestHandler):
    """Answers the page itself, in a browser on this machine that was given the key."""

    @property
    def page(self) -> WebPage:
        """The page that is served."""
        return cast(WebPage, self.settings["page"])

    def prepare(self) -> None:
        """Refuse everybody else."""
        asked, key = self.request.headers.get_list, self.get_query_argument("key", "")
        host = "".join(asked("Host"))
        known = host.partition(":")[0].lower() in (HOST, "localhost")
        own = asked("Origin") in ([], [f"http://{host}"])
        if not (known and own and secrets.compare_digest(key.encode(), self.page.key.encode())):
            raise HTTPError(403)

    def set_default_headers(self) -> None:
        """No other page may show this one, or hear of its address."""
        self.set_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cache-Control", "no-store")

    def write_error(self, status_code: int, **_: Any) -> None:
        """Say what helps."""
        self.finish("Open the address that spca has printed.\n" if status_code == 403 else self._reason)


class _Main(_Guarded):
    def get(self) -> None:
        """The page."""
        self.finish(templates().get_template("web_page.html.j2").render())


class _Report(_Guarded):
    def get(self, number: str) -> None:
        """The report of a run."""
        if not (report := self.page.report(int(number))):
            raise HTTPError(404)
        self.finish(report)


class _Socket(_Guarded, WebSocketHandler):
    def open(self) -> None:
        self.page.opened(self)

    def on_message(self, message: str | bytes) -> None:
        try:
            self.page.take(_Order.model_validate_json(message))
        except ValidationError:
            self.close(1003, "no order")

    def on_close(self) -> None:
        self.page.lost(self)
