"""A run folder with a damaged file gives a report or one clear line, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spca
from spca.report.index import write_index
from spca.report.page import write_report
from spca_core.errors import SpcaError
from spca_core.run_folder import RunFolder

FILES = ("events.jsonl", "run.json", "state.json", "result.json", "contacts.json", "round_1/act_3.json")
PIECES = (
    b"",
    b"\xff\xfe",
    b"null",
    b"{",
    b"]",
    b"\n\n",
    b'"',
    b"1e999",
    b"-1",
    b"NaN",
    b"\\ud800",
    b"[" * 2000,
)

damage = st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from(PIECES))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("damaged") / "run"
    spca.run("touch_02", out=folder, video=False)
    yield folder


@pytest.mark.parametrize("file", FILES)
@settings(max_examples=12)
@given(places=st.lists(damage, min_size=1, max_size=3))
def test_damaged_files_of_a_run(finished: Path, file: str, places: list[tuple[float, float, bytes]]) -> None:
    whole = content = (finished / file).read_bytes()
    for start, length, piece in places:
        at = int(start * len(content))
        content = content[:at] + piece + content[at + int(length * 40) :]
    (finished / file).write_bytes(content)
    try:
        write_index(finished.parent, finished.parent / "campaigns")
        write_report(RunFolder.open(finished))
    except SpcaError as error:
        assert "\n" not in str(error) and len(str(error)) < 1000
    finally:
        (finished / file).write_bytes(whole)
