"""The engine: nothing is lost by an interruption, a broken trial, a dead worker or a torn line."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.campaign import HEAD, RESULTS, StoredCampaign, read_campaign
from spca_benchmarks.campaigns.engine import BROKEN_IN_A_ROW, run_campaign
from spca_benchmarks.campaigns.report import write_report
from spca_core.errors import InputError
from spca_testing.bench import ToyBench


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().split()


def run_broken(bench: ToyBench, folder: Path, first: int = 0) -> StoredCampaign:
    """Run a campaign whose server is gone after so many trials."""
    run_campaign(bench.model_copy(update={"limit": first}), folder, workers=1)
    (folder / "broken").touch()
    return run_campaign(bench, folder, workers=1)


def test_what_has_a_result_is_not_run_again(tmp_path: Path) -> None:
    bench = ToyBench(limit=2)
    campaign = run_campaign(bench, tmp_path / "c", workers=1)
    assert log(tmp_path / "c") == ["a/0", "a/1"]
    assert campaign.stopped == "2 trials are enough"
    head = json.loads((tmp_path / "c" / HEAD).read_text())
    now, head["software"]["git_revision"] = head["software"]["git_revision"], "older"
    (tmp_path / "c" / HEAD).write_text(json.dumps(head))
    campaign = run_campaign(bench.model_copy(update={"limit": None}), tmp_path / "c", workers=1)
    assert log(tmp_path / "c") == ["a/0", "a/1", "a/2"]
    assert [d.trial.key for d in campaign.done] == ["a/0", "a/1", "a/2"]
    assert f"revision older, {now} ·" in write_report(campaign).read_text()


def test_a_folder_holds_one_campaign(tmp_path: Path) -> None:
    run_campaign(ToyBench(), tmp_path / "c", workers=1)
    with pytest.raises(InputError, match=r"holds another campaign \(length differ\)"):
        run_campaign(ToyBench(length=4), tmp_path / "c", workers=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty and holds no campaign"):
        run_campaign(ToyBench(), tmp_path / "full", workers=1)
    assert not (tmp_path / "full" / HEAD).exists()


def test_a_broken_trial_is_counted_apart_holds_up_only_its_own_chain_and_is_run_again(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    bench = ToyBench(chains=("a", "b"), chained=True, breaks=("a/1",))
    campaign = run_broken(bench, folder, first=1)
    assert campaign.broken == {"a/1": "RuntimeError: the server is gone"}
    assert {d.trial.key for d in campaign.done} == {"a/0", "b/0", "b/1", "b/2"}
    page = write_report(campaign).read_text()
    assert "4 of 4 trials solved" in page and "Broken trials" in page and "the server is gone" in page
    (folder / "broken").unlink()
    campaign = run_campaign(bench, folder, workers=1)
    assert not campaign.broken and len(campaign.done) == 6
    assert all(d.result.before == d.trial.number for d in campaign.done)


def test_broken_trials_in_a_row_end_the_campaign(tmp_path: Path) -> None:
    keys = tuple(f"a/{n}" for n in range(1, 30))
    campaign = run_broken(ToyBench(length=30, breaks=keys), tmp_path / "c", first=1)
    assert len(campaign.broken) == BROKEN_IN_A_ROW
    assert "in a row" in campaign.stopped


def test_what_broken_trials_cost_counts_in_the_price_limit(tmp_path: Path) -> None:
    """Also when they are run again and succeed, and when a killed session left a bill behind."""
    bench = ToyBench(length=6, breaks=("a/0", "a/1"), usd=2.5)
    first = run_broken(bench, tmp_path / "c")
    assert first.wasted == {"a/0": 1.0, "a/1": 1.0} and len(first.done) == 4 and not first.stopped
    (tmp_path / "c" / "broken").unlink()
    (tmp_path / "c" / "bill_a_1").touch()  # a session that was killed while it ran a/1
    again = run_campaign(bench, tmp_path / "c", workers=1)
    assert again.wasted == {"a/0": 1.0, "a/1": 2.0} and "2.5 US dollars are used up" in again.stopped
    assert len(run_campaign(bench.model_copy(update={"usd": 9.0}), tmp_path / "c", workers=1).done) == 6


def test_a_torn_or_corrupt_line_costs_only_its_own_trial(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    run_campaign(ToyBench(length=4), folder, workers=1)
    lines = (folder / RESULTS).read_text().splitlines()
    (folder / RESULTS).write_text("\n".join([lines[0], lines[1][:20], lines[2], lines[3][:30]]))
    campaign = read_campaign(ToyBench(length=4), folder)
    assert set(campaign.results) == {"a/0", "a/2"} and len(campaign.complaints) == 2
    run_campaign(ToyBench(length=4), folder, workers=1)
    assert set(read_campaign(ToyBench(length=4), folder).results) == {"a/0", "a/1", "a/2", "a/3"}


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_time(tmp_path: Path) -> None:
    bench = ToyBench(length=6, dies=("a/2",))
    campaign = run_campaign(bench, tmp_path / "c", workers=2)
    assert len(campaign.done) == 6 and not campaign.broken


@pytest.mark.slow
def test_an_outside_scheduler_s_workers_run_trials_from_other_folders(tmp_path: Path) -> None:
    """As on several machines (docs/campaigns.md), with one disk in common."""
    started: list[subprocess.Popen[str]] = []

    def start(kind: str, *options: str) -> None:
        folder = tmp_path / f"{kind}-{len(started)}"
        folder.mkdir()
        command = [sys.executable, "-m", "dask", kind, "--no-dashboard", *options]
        started.append(subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True))

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0")
        told = (re.search(r"Scheduler at:\s+(tcp:\S+)", line) for line in started[0].stderr or ())
        address = next(filter(None, told))[1]
        for name in ("one", "other"):
            start("worker", address, "--nthreads", "1", "--name", name)
        bench = ToyBench(chains=("a", "b"), length=2)
        campaign = run_campaign(bench, tmp_path / "campaign", scheduler=address)
    finally:
        for process in reversed(started):
            process.terminate()
            process.communicate()
    assert len(campaign.results) == 4 and not campaign.broken
