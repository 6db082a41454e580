"""The log of a run."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from threading import Barrier

from spca_core.log import LOG, log, logged_with, logging_to


def _lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / LOG).read_text().splitlines()]


def test_an_event_is_a_line_of_json_with_its_data_and_that_of_its_context(tmp_path: Path) -> None:
    with logging_to(tmp_path), logged_with(rehearsal="nominal"):
        log.info("step", {"message": "100 % done", "level": "touch_01", "where": Path("/")})
        log.warning("%d is what MuJoCo says")
    first, second = _lines(tmp_path)
    assert datetime.fromisoformat(str(first.pop("timestamp")).replace("Z", "+00:00")).utcoffset() is not None
    assert first == {
        "message": "100 % done", "where": "/", "rehearsal": "nominal", "event": "step", "level": "info"
    }  # fmt: skip
    assert (second["event"], second["level"]) == ("%d is what MuJoCo says", "warning")


def test_what_is_logged_outside_of_a_run_is_dropped(tmp_path: Path) -> None:
    with logging_to(tmp_path):
        log.info("inside")
    log.warning("outside")
    with logging_to(tmp_path / "next"):
        log.info("of the next run")
    assert [line["event"] for line in _lines(tmp_path)] == ["inside"]
    assert [line["event"] for line in _lines(tmp_path / "next")] == ["of the next run"]


def test_each_of_two_runs_at_once_logs_what_is_its_own(tmp_path: Path) -> None:
    both = Barrier(2)

    def run(name: str) -> None:
        with logging_to(tmp_path / name):
            both.wait()
            log.info(name)
            both.wait()

    with ThreadPoolExecutor() as pool:
        list(pool.map(run, ("first", "second")))
    assert [[line["event"] for line in _lines(tmp_path / name)] for name in ("first", "second")] == [
        ["first"],
        ["second"],
    ]
