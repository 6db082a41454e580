"""The benches that run levels: selection, causes, repetition, and that a campaign can be continued."""

from __future__ import annotations

import pytest

from spca.benches import BENCHES, bench_in
from spca.benches.levels import LevelsBench, LevelTrial, causes
from spca.benches.minigrid import MinigridBench, MinigridResult, MinigridTrial
from spca.benches.runs import RunSummary
from spca_bench.bench import Done
from spca_bench.engine import run_campaign
from spca_bench.page import Page
from spca_bench.report import write_report
from spca_minigrid.ending import Ended, Ending
from spca_minigrid.levels import find_level
from spca_minigrid.reference import reference


def result(outcome: str = "success", cause: str = "") -> RunSummary:
    return RunSummary(outcome=outcome, score=1.0, cause=cause, wall=1.0, sim=9.0, rounds=1, steps=2)


def test_causes_are_pooled_over_names_and_numbers() -> None:
    failed = [
        result("fail", "cube_red slipped at 0.31 m"),
        result("fail", "cube_blue slipped at -0.2 m"),
        result("timeout", "too late"),
    ]
    assert [n for _, n in causes(failed)] == [2, 1]


def test_the_table_has_groups_and_all_of_them() -> None:
    bench = LevelsBench(levels=("stack_01", "touch_02"), tables=1)
    done = [Done(t, result("fail" if t.level == "touch_02" else "success")) for t in bench.trials()]
    rows = [row[:3] for row in bench.table(done).shown()]
    assert rows == [["shuffled", "stack", "1/1"], ["shuffled", "touch", "0/1"], ["shuffled", "all", "1/2"]]


def grid_result(trial: MinigridTrial) -> MinigridResult:
    """A run that takes twice the shortest way, and fails on odd seeds of one level."""
    good = not (trial.seed % 2 and "GoToDoor" in trial.level.name)
    ended = Ended(ending=Ending.SUCCESS if good else Ending.STUCK, why="" if good else "it stood <still>")
    known = reference(trial.level, trial.seed)
    summary = result("success" if good else "gave_up", "" if good else "it stood <still>")
    values = {**dict(summary), "sim": 2.0 * known.steps, "ended": ended, "reference": known}
    return MinigridResult(**values)


def test_minigrid_is_summed_up_by_category_next_to_the_published_figures(tmp_path) -> None:
    bench = MinigridBench(levels="MiniGrid-Empty-5x5,MiniGrid-GoToDoor-5x5", seeds=2)
    done = [Done(t, grid_result(t)) for t in bench.trials()]
    rows = {row[0]: row[1:] for row in bench.table(done).shown()}
    assert rows["goal_navigation"][:2] == ["1", "2/2"] and rows["goal_navigation"][4] == "11/11"
    assert rows["the nine published categories"][1] == rows["all"][1] == "3/4"
    assert rows["all"][6] == "2.00"  # times the shortest way
    page = Page("")
    bench.report(done, page)
    text = page.write(tmp_path / "page.html").read_text()
    assert (
        "76 of 102" in text and "it stood &lt;still&gt;" in text and "<svg" in text and "2.000 times" in text
    )


@pytest.mark.slow
def test_a_minigrid_trial_says_how_it_ended(tmp_path) -> None:
    trial = MinigridTrial(level=find_level("MiniGrid-Empty-5x5"), seed=0)
    good = MinigridBench().run_trial(trial, tmp_path)
    assert good.ended.ending is Ending.SUCCESS and good.sim == 5 and good.ratio == 1.0
    assert good.planner.fresh == 1 and set(good.stage_wall) == {"sense", "plan", "code", "act"}
    assert not list((tmp_path / "runs").iterdir())
    bad = MinigridBench(skills="empty", library=tmp_path / "library").run_trial(trial, tmp_path)
    assert bad.ended.ending is Ending.MISSING_SKILL and "enter" in bad.ended.why
    assert (tmp_path / bad.run / "result.json").is_file()


@pytest.mark.parametrize("name", BENCHES)
def test_every_bench_that_is_listed_is_there(name: str) -> None:
    from importlib import import_module

    module, _, kind = BENCHES[name].partition(":")
    assert getattr(import_module(module), kind).name == name


@pytest.mark.slow
def test_a_trial_repeats_bit_for_bit_and_a_campaign_is_taken_up_again(tmp_path) -> None:
    bench = LevelsBench(levels=("touch_02",), tables=2)
    campaign = run_campaign(bench, tmp_path / "c", workers=1)
    again = bench.run_trial(LevelTrial(level="touch_02", preset="shuffled", seed=1), tmp_path / "again")
    assert again.success
    assert again.digest == campaign.results["touch_02/shuffled/1"].digest
    assert bench_in(tmp_path / "c") == bench
    page = write_report(campaign).read_text()
    assert "2 of 2 trials solved" in page and page.count("<svg") == 4
