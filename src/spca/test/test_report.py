"""The report of a run and the index of all runs, read as pages."""

import json
import os
import re
import tempfile
from pathlib import Path

import pytest

from spca.pages import remember, write_index
from spca.report import templates
from spca.runs import Run
from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, documented as `spca run` does it."""
    parent = tmp_path_factory.mktemp("runs")
    options = RunOptions(level="touch_02", transport="inproc", video=False)
    run = Run(options, RunFolder.create("", parent / "20260101-120000_table"))
    assert run.advance().success
    run.document()
    return parent


def test_the_report_is_one_file_with_the_task_the_proposer_and_what_was_measured(runs: Path) -> None:
    folder = runs / "20260101-120000_table"
    page = (folder / "report.html").read_text()
    assert "Touch the blue cube" in page and "no language model" in page and "cobot" in page
    assert "the referee saw" in page and "box_blue" not in re.sub(r"(?s)<details.*?</details>", "", page)
    assert "data:image/jpeg" in page and not re.search(r'(src|href)="(http|//)', page), "without a network"
    found = re.search(r'(?s)<script type="application/json" id="data">(.*?)</script>', page)
    shown = json.loads(found[1])
    stamps = [*shown["signals"]["stamps"]]
    assert stamps == sorted(stamps) and shown["end"] <= stamps[-1] + 0.1
    joints, gripper = shown["signals"]["plots"]
    assert len(joints["lines"]) == 6
    assert max(gripper["lines"]["opening"]) == pytest.approx(85, abs=1)
    assert {c["text"] for c in shown["contacts"]} > {"blue cube – cobot"}


def test_a_page_is_made_from_the_templates_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"_jinja2-cache-{os.getuid()}").mkdir(mode=0o777)
    templates.cache_clear()
    write_index(tmp_path / "runs")
    assert not list((tmp_path / f"_jinja2-cache-{os.getuid()}").iterdir())


def test_the_index_lists_a_broken_run_and_campaigns_that_were_made_elsewhere(
    runs: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere" / "sunday"
    elsewhere.mkdir(parents=True)
    (elsewhere / "index.html").write_text("made with --out")
    remember(elsewhere, tmp_path)
    broken = runs / "20260101-120200_broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    page = write_index(runs, tmp_path).read_text()
    assert all(f"{name}<" in page for name in (broken.name, "sunday", "20260101-120000_table"))
