"""The log of a run."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from threading import Barrier

from spca_core.log import LOG, log, logged_with, logging_to


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / LOG).read_text().splitlines()]


def test_an_event_is_a_line_of_json_with_its_data_and_that_of_its_context(tmp_path: Path) -> None:
    """What is logged outside of a run is dropped."""
    with logging_to(tmp_path), logged_with(rehearsal="nominal"):
        log.info("step", {"message": "100 % done", "level": "touch_01", "where": Path("/")})
        log.warning("%d is what MuJoCo says")
    log.warning("outside")
    first, second = lines(tmp_path)
    assert datetime.fromisoformat(str(first.pop("timestamp")).replace("Z", "+00:00")).utcoffset() is not None
    told = {"event": "step", "level": "info", "message": "100 % done", "where": "/", "rehearsal": "nominal"}
    assert first == told
    assert (second["event"], second["level"]) == ("%d is what MuJoCo says", "warning")


def test_each_of_two_runs_at_once_logs_what_is_its_own(tmp_path: Path) -> None:
    both = Barrier(2)

    def run(name: str) -> None:
        with logging_to(tmp_path / name):
            both.wait()
            log.info(name)
            both.wait()

    with ThreadPoolExecutor() as pool:
        list(pool.map(run, ("first", "second")))
    told = [[line["event"] for line in lines(tmp_path / name)] for name in ("first", "second")]
    assert told == [["first"], ["second"]]
