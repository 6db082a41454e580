"""The report of a run and the index of all runs, read as pages."""

import json
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

from spca.pages import remember, write_index
from spca.report import templates
from spca.runs import Run
from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run on the table and one in a grid world, both documented as `spca run` does it."""
    parent = tmp_path_factory.mktemp("runs")
    for name, level in (
        ("20260101-120000_table", "touch_02"),
        ("20260101-120100_grid", "minigrid:MiniGrid-DoorKey-5x5"),
    ):
        options = RunOptions(level=level, transport="inproc", video=level.startswith("minigrid"))
        folder = RunFolder.create("", parent / name)
        assert Run(options, folder).advance().success
        Run(options, folder).document()
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
    assert next(iter(joints["lines"])) == "shoulder pan" and len(joints["lines"]) == 6
    assert all(len(line) == len(stamps) for line in (*joints["lines"].values(), *gripper["lines"].values()))
    assert max(gripper["lines"]["opening"]) == pytest.approx(85, abs=1)
    assert {c["text"] for c in shown["contacts"]} > {"blue cube – cobot"}
    scene = shown["signals"]["scene"]
    bodies = len({shape["body"] for shape in scene["shapes"]})
    before, after = np.array((scene["poses"][0], scene["poses"][-1])).reshape(2, bodies, 7)
    assert 5 <= (np.abs(before - after).max(axis=1) > 20).sum() < bodies, "the arm moves, and not all"


def test_a_page_is_made_from_the_templates_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"_jinja2-cache-{os.getuid()}").mkdir(mode=0o777)
    templates.cache_clear()
    write_index(tmp_path / "runs")
    assert not list((tmp_path / f"_jinja2-cache-{os.getuid()}").iterdir())


def test_a_grid_world_has_pictures_of_every_step_and_an_animation(runs: Path) -> None:
    folder = runs / "20260101-120100_grid"
    page = (folder / "report.html").read_text()
    assert "data:image/webp" in page and "simulated" not in page and "primitives" in page
    steps = [s for a in folder.glob("round_*/act_*.json") for s in json.loads(a.read_text())["steps"]]
    stamps = {round(s["ended"]) for s in steps}
    seen = [json.loads(p.read_text()) for p in sorted((folder / "looks").glob("*.json"))]
    assert {look["stamp"] for look in seen} == stamps | {0}
    assert all(text in page for look in seen for text in look["sentences"])


def test_the_index_lists_runs_and_campaigns_the_newest_first(runs: Path, tmp_path: Path) -> None:
    """A campaign that was made with `--out` is remembered; a broken run is listed all the same."""
    elsewhere = tmp_path / "elsewhere" / "sunday"
    elsewhere.mkdir(parents=True)
    (elsewhere / "index.html").write_text("made with --out")
    (elsewhere / "results.jsonl").write_text('{"result"\n')
    for _ in range(2):
        remember(elsewhere, tmp_path)
    broken = runs / "20260101-120200_broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    newest_first = [broken, elsewhere, *sorted(runs.glob("*_[gt]*"))]
    for age, folder in enumerate(newest_first):
        os.utime(folder, (1e9 - age, 1e9 - age))
    page = write_index(runs, tmp_path).read_text()
    order = [page.index(f"{folder.name}<") for folder in newest_first]
    assert order == sorted(order) and page.count(">sunday<") == 1
    for link in re.findall(r'href="([^"]+)"', page):
        assert (runs / link).exists(), link
