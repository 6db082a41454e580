"""The report of a run and the index of all runs, read as pages."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from spca.inproc import run_inproc
from spca.kits import kit_of
from spca.report import write_report
from spca.report.index import write_index
from spca.report.page import obstacles
from spca.report.timeline import ticks
from spca_core.geometry import Pose
from spca_core.observation import Observation
from spca_core.options import RunOptions
from spca_core.run_folder import RunFolder
from spca_core.scene import Scene, SceneObject


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
        assert run_inproc(options, folder).success
        for make in kit_of(level).documents(options):
            make(folder, options)
        write_report(folder)
    return parent


def test_the_report_says_the_task_the_proposer_and_where_the_files_are(runs: Path) -> None:
    page = (runs / "20260101-120000_table" / "report.html").read_text()
    assert "Touch the blue cube" in page and "no language model" in page
    assert 'href="run.mcap"' in page and "cobot" in page
    assert "box_blue" not in re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)  # plain words
    assert "data:image/jpeg" in page and "data:image/png" not in page
    assert len(page) < 600_000


def test_what_does_not_belong_on_the_table_is_listed(tmp_path: Path) -> None:
    folder = RunFolder.create("stack_01", tmp_path / "run")
    box = SceneObject(
        id="unknown", kind="unknown", colour="grey", pose=Pose(position=(0.462, -0.067, 0.475)),
        size=(0.055, 0.05, 0.15), confidence=1.0,
    )  # fmt: skip
    scene = Scene(stamp=0.0, objects=(box,), relations=(), sentences=())
    plain = Observation(stamp=0.0, objects={}, facts=(), sentences=())
    folder.write("round_1/observation.json", plain.model_copy(update={"scene": scene}))
    folder.write("round_2/observation.json", plain)
    assert obstacles(folder.path) == ["5.5 × 5.0 × 15.0 cm at (0.46, -0.07) m"]


def test_the_time_axis_has_round_marks() -> None:
    assert [t["label"] for t in ticks(13.7)] == ["0", "5", "10"]
    assert [t["label"] for t in ticks(0.5)] == ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]
    assert ticks(22.0)[-1]["left"] == pytest.approx(100 * 20 / 22)


def test_the_models_that_answered_are_named(runs: Path) -> None:
    folder = runs / "20260101-120000_table"
    exchange = {"request": {"role": "planner_big"}, "answer": {"model": "some-model-4"}}
    (folder / "llm").mkdir()
    (folder / "llm" / "0001-planner_big.json").write_text(json.dumps(exchange))
    assert "planner_big some-model-4" in write_report(RunFolder(folder)).read_text()


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
    (tmp_path / "monday").mkdir()
    (tmp_path / "monday" / "report.html").write_text("a campaign")
    broken = runs / "20260101-120200_broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    newest_first = [broken, tmp_path / "monday", *sorted(runs.glob("*_[gt]*"))]
    for age, folder in enumerate(newest_first):
        os.utime(folder, (1e9 - age, 1e9 - age))
    page = write_index(runs, tmp_path).read_text()
    order = [
        page.index(f">{folder.name}<") if folder in newest_first[:2] else page.index(f"· {folder.name}<")
        for folder in newest_first
    ]
    assert order == sorted(order)
    assert page.count("data:image/jpeg") == 2
    for link in re.findall(r'href="([^"]+)"', page):
        assert (runs / link).exists(), link
