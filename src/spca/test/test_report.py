"""The report of a run and the index of all runs, read as pages."""

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spca.pages import remember, write_index
from spca.report import executed, templates, write_report
from spca.runs import Run
from spca_core.options import RunOptions, manifest
from spca_core.plan import ActResult, PlanResult
from spca_core.result import Ending, Outcome, RunResult, Verdict
from spca_core.run_folder import RunFolder
from spca_core.world import load_world
from spca_sim.recording import load_states
from spca_sim.video import render_video


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


def test_the_report_says_the_task_the_proposer_and_where_the_files_are(runs: Path) -> None:
    page = (runs / "20260101-120000_table" / "report.html").read_text()
    assert "Touch the blue cube" in page and "no language model" in page
    assert "cobot" in page
    assert "box_blue" not in re.sub(r"<details.*?</details>", "", page, flags=re.DOTALL)  # plain words
    assert "data:image/jpeg" in page and "data:image/png" not in page
    assert len(page) < 600_000 and not re.search(
        r'(src|href)="(http|//)', page
    )  # one file, without a network
    watched = page[page.index('<div class="watch">') : page.index('id="shown"')]  # one time moves all of it
    assert watched.count('id="play"') == 1 and 'id="scene"' in watched and 'id="time"' in watched
    assert "controls" not in watched


def test_the_report_plots_what_was_measured_and_knows_when_each_picture_of_the_video_was(runs: Path) -> None:
    folder = runs / "20260101-120000_table"
    shown = _data(folder)
    stamps = [*shown["signals"]["stamps"]]
    assert stamps == sorted(stamps) and shown["end"] <= stamps[-1] + 0.1
    joints, gripper = shown["signals"]["plots"]
    assert next(iter(joints["lines"])) == "shoulder pan" and len(joints["lines"]) == 6
    assert all(len(line) == len(stamps) for line in (*joints["lines"].values(), *gripper["lines"].values()))
    assert max(gripper["lines"]["opening"]) == pytest.approx(85, abs=1)
    assert {c["text"] for c in shown["contacts"]} > {"blue cube – cobot"}
    world, states = load_world(), load_states(folder / "states.npz")
    scene = shown["signals"]["scene"]
    bodies = {shape["body"] for shape in scene["shapes"]}
    assert len(scene["poses"]) == len(scene["stamps"]) and scene["stamps"][0] == stamps[0]
    assert {len(row) for row in scene["poses"]} == {7 * len(bodies)} and bodies == set(range(len(bodies)))
    before, after = np.array((scene["poses"][0], scene["poses"][-1])).reshape(2, -1, 7)
    moved = {b for b in bodies if np.abs(before[b] - after[b]).max() > 20}
    table = next(s["body"] for s in scene["shapes"] if s["size"][0] == world.table.size[0] / 2)
    assert 5 <= len(moved) < len(bodies) and table not in moved
    assert before[table][2] == pytest.approx(1e4 * (world.table.top - world.table.size[2] / 2), abs=1)
    render_video(world, states, folder / "video.mp4", size=(160, 90), inset=False)
    write_report(RunFolder(folder))
    frames = _data(folder)["frames"]
    assert frames["stamps"][0] == pytest.approx(states[0].stamp)
    assert len(frames["stamps"]) / frames["fps"] == pytest.approx(states[-1].stamp / 2, abs=0.3)


def test_every_time_that_a_plan_was_carried_out_is_a_tree_of_its_steps(runs: Path) -> None:
    folder = runs / "20260101-120000_table"
    plan = PlanResult.model_validate_json((folder / "round_1" / "plan_1.json").read_bytes())
    act = ActResult.model_validate_json(next(folder.glob("round_1/act_*.json")).read_bytes())
    longer = plan.plan.model_copy(update={"steps": (*plan.plan.steps, *plan.plan.steps)})
    longer_plan = plan.model_copy(update={"plan": longer})
    failed = act.steps[0].model_copy(update={"status": "failed"})
    stopped = act.model_copy(update={"status": "failed", "steps": (failed,)})
    trees, steps = executed([(1, longer_plan), (4, plan), (9, plan)], [(3, stopped), (6, act), (8, act)])
    assert [(t["status"], [(n["status"], n["step"]) for n in t["nodes"]]) for t in trees] == [
        ("failed", [("failed", 0), ("ahead", None)]),
        ("done", [("done", 1)]),
        ("done", [("done", 2)]),
        ("not tried", [("ahead", None)]),
    ]
    assert [s["status"] for s in steps] == ["failed", "done", "done"]


def test_who_has_judged_and_answered_is_named(runs: Path) -> None:
    folder = runs / "20260101-120000_table"
    events = (folder / "events.jsonl").read_text()
    assert "the referee saw" in (folder / "report.html").read_text()
    asked, said = {"role": "planner_big", "messages": []}, {"text": "", "model": "some-model-4"}
    exchange = {"started": "", "request": asked, "digest": "", "model": "m", "answer": said}
    (folder / "llm").mkdir()
    (folder / "llm" / "0001-planner_big.json").write_text(json.dumps(exchange))
    try:
        (folder / "events.jsonl").write_text(events.replace('"judge":"referee"', '"judge":"look"'))
        page = write_report(RunFolder(folder)).read_text()
    finally:
        (folder / "events.jsonl").write_text(events)
    assert "judged by a look" in page and "referee saw" not in page and "score" not in page.split("<nav")[0]
    assert "planner_big some-model-4" in page


def test_a_page_is_named_after_its_task_and_scores_only_what_was_done(runs: Path, tmp_path: Path) -> None:
    """A level of one's own is a file; what nobody did may hold in part all the same."""
    folder, level = RunFolder.create("my", tmp_path / "run"), str(tmp_path / "my_level.yaml")
    folder.write("run.json", manifest(RunOptions(level=level, transport="inproc")))
    folder.write("events.jsonl", '{"kind":"run_started","text":"Stack the red cube","wall":0,"sim":0}\n')
    verdict = Verdict(outcome=Outcome.RUNNING, score=0.5, stamp=1.0, reason="no", conditions=())
    done = RunFolder.open(runs / "20260101-120000_table").read("result.json", RunResult)
    ended = done.model_copy(update={"outcome": Ending.NOT_UNDERSTOOD, "verdict": verdict})
    for steps, scored in ((0, False), (2, True)):
        folder.write("result.json", ended.model_copy(update={"steps": steps}))
        page = write_report(folder).read_text()
        assert "<title>Stack the red cube · spca</title>" in page and "<h1>Stack the red cube</h1>" in page
        assert ("score 0.50" in page) is scored


def _data(folder: Path) -> Any:
    """What the page's script shows."""
    page = (folder / "report.html").read_text()
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


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
    (tmp_path / "monday").mkdir()
    (tmp_path / "monday" / "report.html").write_text("a campaign")
    elsewhere = tmp_path / "elsewhere" / "sunday"
    elsewhere.mkdir(parents=True)
    (elsewhere / "index.html").write_text("made with --out")
    shown = {"thumbnail": "data:image/jpeg;base64,AAAA"}
    (elsewhere / "results.jsonl").write_text('{"result"\n' + json.dumps({"result": shown}))
    remember(elsewhere, tmp_path)
    remember(elsewhere, tmp_path)
    broken = runs / "20260101-120200_broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    newest_first = [broken, tmp_path / "monday", elsewhere, *sorted(runs.glob("*_[gt]*"))]
    for age, folder in enumerate(newest_first):
        os.utime(folder, (1e9 - age, 1e9 - age))
    page = write_index(runs, tmp_path).read_text()
    order = [
        page.index(f">{folder.name}<") if folder in newest_first[:3] else page.index(f"· {folder.name}<")
        for folder in newest_first
    ]
    assert order == sorted(order)
    assert page.count("data:image/jpeg") == 3
    assert page.count(">sunday<") == 1
    for link in re.findall(r'href="([^"]+)"', page):
        assert (runs / link).exists(), link
