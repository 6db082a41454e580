"""`--view web`: the page holds the robot, the things and the run, and moves with them."""

from __future__ import annotations

import asyncio
import http.client
import socket
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_sim import web_view
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.web_view import WebView, _guarded, require_viser
from spca_tabletop.environment import Tabletop
from spca_tabletop.kit import build_tabletop


def test_without_viser_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_view.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"--view web.*pip install 'spca\[view\]'"):
        require_viser()


KEY = "k3y"
HERE = {"Host": "127.0.0.1:8080"}
FOREIGN = "http://evil.example"


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (f"/?key={KEY}", HERE, 200),
        (f"/?key={KEY}", {"Host": "localhost:9000"}, 200),  # a forwarded port
        ("/", {**HERE, "Cookie": f"a=b; spca_view={KEY}"}, 200),
        ("/", {**HERE, "Cookie": f"spca_view={KEY}", "Origin": "http://127.0.0.1:8080"}, 200),
        ("/", HERE, 403),
        ("/?key=other", HERE, 403),
        ("/", {**HERE, "Cookie": "spca_view="}, 403),
        (f"/?key={KEY}", {"Host": "evil.example:8080"}, 403),  # a name that was bound to this address
        (f"/?key={KEY}", {**HERE, "Origin": FOREIGN}, 403),
        (f"/?key={KEY}", {**HERE, "Origin": "http://127.0.0.1:9999"}, 403),
        (f"/?key={KEY}", {**HERE, "Origin": "null"}, 403),
    ],
)
def test_only_who_has_the_key_and_comes_from_the_page_is_answered(
    path: str, headers: dict[str, str], status: int
) -> None:
    """A browser sends any site's requests to this machine: with its `Origin`, or under its name."""
    pytest.importorskip("websockets")

    async def answered() -> int:
        from websockets.asyncio import server

        with _guarded(KEY):
            serving = server.serve(
                lambda socket: socket.wait_closed(),
                "127.0.0.1",
                0,
                process_request=lambda connection, request: connection.respond(200, "the page"),
            )
        async with serving as running:
            port = running.sockets[0].getsockname()[1]
            return await asyncio.to_thread(_asked, port, path, headers)

    assert asyncio.run(answered()) == status


def test_a_server_that_cannot_be_guarded_is_refused() -> None:
    pytest.importorskip("websockets")
    with pytest.raises(InputError, match="cannot be guarded"), _guarded(KEY):
        pass


def _asked(port: int, path: str, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status


@pytest.fixture
def table() -> Iterator[Tabletop[MujocoWorld]]:
    environment = build_tabletop(RunOptions(level="stack_01"))
    yield environment
    environment.close()


def test_the_page_shows_what_is_simulated_and_what_the_run_is_about(table: Tabletop[MujocoWorld]) -> None:
    pytest.importorskip("viser")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with WebView(table.table.simulator, port) as view:
        assert b"<html" in urllib.request.urlopen(view.address).read().lower()
        port = urlsplit(view.address).port or 0
        shaken = {**HERE, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
        shaken |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": FOREIGN}
        assert _asked(port, "/", HERE) == _asked(port, urlsplit(view.address)[2], shaken) == 403
        table.web_view = view
        before = {body: tuple(frame.position) for body, frame in view._frames.items()}
        table.tell("run_started", "Stack the red cube", {})
        table.sense()  # the arm moves out of the camera's view
        view._shown = 0.0
        table.table.simulator.step(0.1)
        moved = [body for body, frame in view._frames.items() if tuple(frame.position) != before[body]]
        assert len(moved) >= 5  # the links
        table.tell("stage_ended", "", {})
        assert view._picture is not None and view._picture.image.shape == table.picture().shape
        first, then = "pick_up(cube_red, table)", "stack_on(cube_red, cube_blue)"
        table.tell("plan", "", {"steps": [first, then]})
        assert view._steps.content == f"▶ {first}  \n· {then}"
        table.tell("step", first, {"status": "done"})
        assert view._steps.content == f"✓ {first}  \n▶ {then}"
        assert "red cube – table" in view._contacts.content
        table.tell("verdict", "all conditions held", {"outcome": "success"})
        assert view._task.content == "**success** all conditions held"
