"""Campaigns: nothing is lost by an interruption, a killed worker or a corrupted line, and trials repeat exactly."""

from __future__ import annotations

import os
import signal
import threading
import time

import psutil
import pytest

from spca.campaign.compare import compare
from spca.campaign.page import write_page
from spca.campaign.results import RESULTS, TrialResult, append_result, read_results
from spca.campaign.run import run_campaign
from spca.campaign.spec import CampaignSpec, Trial, select_levels
from spca.campaign.statistics import Rate, causes
from spca.campaign.trial import run_trial
from spca_core.errors import InputError


def result(seed: int, outcome: str = "success", cause: str = "") -> TrialResult:
    trial = Trial(level="stack_01", preset="shuffled", seed=seed)
    return TrialResult(
        trial=trial,
        outcome=outcome,
        score=1.0,
        cause=cause,
        wall=1.0,
        sim=9.0,
        rounds=1,
        steps=2,
        stage_wall={},
    )


def test_a_corrupted_line_costs_only_its_own_trial(tmp_path):
    for seed in range(3):
        append_result(tmp_path, result(seed))
    lines = (tmp_path / RESULTS).read_text().splitlines()
    (tmp_path / RESULTS).write_text("\n".join([lines[0], lines[1][:40], lines[2]]) + "\n")
    results, complaints = read_results(tmp_path)
    assert {r.trial.seed for r in results} == {0, 2}
    assert len(complaints) == 1
    assert f"{RESULTS}:2" in complaints[0]


def test_a_result_after_a_torn_line_is_not_torn_too(tmp_path):
    (tmp_path / RESULTS).write_text('{"trial": {"level"')
    append_result(tmp_path, result(1))
    assert [r.trial.seed for r in read_results(tmp_path)[0]] == [1]


def test_wilson_interval():
    """Against the worked values of Newcombe (1998), table I: 81 of 263, 0.2553 to 0.3662."""
    low, high = Rate(good=81, total=263).interval
    assert low == pytest.approx(0.2553, abs=1e-4)
    assert high == pytest.approx(0.3662, abs=1e-4)


def test_causes_are_pooled_over_names_and_numbers():
    failed = [
        result(0, "fail", "cube_red slipped at 0.31 m"),
        result(1, "fail", "cube_blue slipped at -0.2 m"),
        result(2, "timeout", "too late"),
    ]
    assert [n for _, n in causes(failed)] == [2, 1]


def test_comparison_tells_better_from_worse():
    before = [result(0), result(1, "fail"), result(2)]
    after = [result(0, "fail"), result(1), result(3)]
    found = compare(before, after)
    assert found.common == 2
    assert found.better == ("stack_01/shuffled/1",)
    assert found.worse == ("stack_01/shuffled/0",)


def test_levels_are_chosen_by_group_and_pattern():
    assert select_levels(("stack_01", "touch_0[23]")) == ("stack_01", "touch_02", "touch_03")
    assert len(select_levels(("all",))) == 44
    with pytest.raises(InputError, match="stacks"):
        select_levels(("stacks",))


def is_worker(process: psutil.Process) -> bool:
    try:
        return any("spawn_main" in part for part in process.cmdline())
    except psutil.Error:  # it has just ended
        return False


@pytest.mark.slow
def test_a_trial_repeats_bit_for_bit(tmp_path):
    spec = CampaignSpec(levels=("stack_01",), tables=1)
    trial = next(spec.trials())
    first, second = (run_trial(spec, trial, str(tmp_path)) for _ in range(2))
    assert first.success
    assert first.digest == second.digest


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_time(tmp_path):
    spec = CampaignSpec(levels=("touch_02", "pickup_02"), tables=3)
    known = {p.pid for p in psutil.Process().children(recursive=True)}

    def kill_one() -> None:
        for _ in range(600):
            time.sleep(0.1)
            mine = [p for p in psutil.Process().children(recursive=True) if p.pid not in known]
            workers = [p for p in mine if is_worker(p)]
            if (tmp_path / RESULTS).is_file() and workers:
                os.kill(workers[0].pid, signal.SIGKILL)
                return

    killer = threading.Thread(target=kill_one)
    killer.start()
    results = run_campaign(tmp_path, spec, workers=1)
    killer.join()
    assert len(results) == 6
    assert all(r.success for r in results)


@pytest.mark.slow
def test_an_interrupted_campaign_goes_on_where_it_was(tmp_path):
    spec = CampaignSpec(levels=("touch_02",), tables=3)

    class Interrupted(Exception):
        pass

    def stop(_: TrialResult, done: int, __: int) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        run_campaign(tmp_path, spec, workers=1, on_result=stop)
    before = read_results(tmp_path)[0]
    assert len(before) == 1
    seen = []
    run_campaign(tmp_path, spec, workers=1, on_result=lambda r, d, n: seen.append(r.trial.key))
    assert len(seen) == 2
    assert before[0].trial.key not in seen
    page = write_page(tmp_path).read_text()
    assert "3 of 3 trials" in page
    assert "<svg" in page
    with pytest.raises(InputError, match="another campaign"):
        run_campaign(tmp_path, spec.model_copy(update={"tables": 4}), workers=1)
