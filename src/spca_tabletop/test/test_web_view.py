"""`--view web`: the page holds the robot, the things and the run, and moves with them."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Iterator

import pytest

from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_sim import web_view
from spca_sim.mujoco_world import MujocoWorld
from spca_sim.web_view import WebView, require_viser
from spca_tabletop.environment import Tabletop
from spca_tabletop.kit import build_tabletop


def test_without_viser_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_view.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"--view web.*pip install 'spca\[view\]'"):
        require_viser()


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
