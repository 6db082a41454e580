"""Runs a bench from the command line: progress bar, clean interruption, table and page."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from spca.console import as_typed, notices, results, show_table
from spca.pages import remember
from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.campaign import RESULTS, ResultLine, StoredCampaign, read_campaign, read_head
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.campaigns.report import comparison, write_report
from spca_core.errors import EXIT_INTERRUPTED, EXIT_NOT_SOLVED, EXIT_SUCCESS, InputError
from spca_core.paths import CAMPAIGNS

_FAILED_SHOWN = 30


def run_bench(
    bench: Bench[Any, Any],
    out: Path | None = None,
    workers: int | None = None,
    scheduler: str = "",
    baseline: Path | None = None,
) -> int:
    """Run a campaign, or go on with the one in `out`; show its table, write its page, return the exit status.

    The status is 1 if a trial was not solved, broke, or was not run; benches whose trials are not solved or
    failed end with 0.
    """
    folder = out or new_folder(bench.name)
    if baseline is not None and read_head(baseline).bench != bench.name:
        raise InputError(f"no campaign of `{bench.name}` to compare with", where=str(baseline))
    if (folder / RESULTS).is_file():
        for complaint in read_campaign(bench, folder).complaints:
            notices().print(f"spca: {complaint}", markup=False)
    try:
        campaign = with_progress(bench, folder, workers, scheduler)
    except KeyboardInterrupt:
        notices().print(f"spca: interrupted; go on with: {_resume(folder)}", markup=False)
        return EXIT_INTERRUPTED
    show_campaign(campaign, baseline)
    if campaign.broken or campaign.stopped:
        notices().print(f"  go on with: {_resume(folder)}", markup=False)
        return EXIT_NOT_SOLVED
    solved = all(bench.success(d.result) is not False for d in campaign.done)
    return EXIT_SUCCESS if solved else EXIT_NOT_SOLVED


def new_folder(name: str) -> Path:
    """Return the folder of a new campaign, named by the time and the bench."""
    return CAMPAIGNS / f"{datetime.now():%Y%m%d-%H%M%S}_{name}"


def show_campaign(campaign: StoredCampaign[Any, Any], baseline: Path | None = None) -> None:
    """Show the table of a campaign and what is not in it, and write its page and tables."""
    bench, done = campaign.bench, campaign.done
    show_table(*bench.table(done).narrow())
    failed = [(d.trial.key, bench.remark(d)) for d in done if bench.success(d.result) is False]
    lines = [f"{name}: {why or 'not solved'}" for name, why in failed[:_FAILED_SHOWN]]
    if len(failed) > _FAILED_SHOWN:
        lines.append(f"… and {len(failed) - _FAILED_SHOWN} more that were not solved: see the page")
    if baseline is not None:
        lines += [f"compared with {baseline.name}", *comparison(campaign, baseline)]
    for line in lines:
        results().print(f"  {escape(line)}", soft_wrap=True)
    if campaign.broken:
        notices().print(
            f"  [yellow]{len(campaign.broken)} broken[/yellow], not counted; resuming runs them again"
        )
    if campaign.stopped:
        notices().print(f"  [yellow]ended early[/yellow]: {escape(campaign.stopped)}")
    results().print(f"page  {write_report(campaign, baseline)}", soft_wrap=True, markup=False)
    with suppress(OSError):  # the index is a convenience
        remember(campaign.folder)


def with_progress(
    bench: Bench[Any, Any], folder: Path, workers: int | None, scheduler: str = ""
) -> StoredCampaign[Any, Any]:
    """Run a campaign behind a progress bar; see `run_campaign`."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn()
    )  # fmt: skip
    by_key = {t.key: t for t in bench.trials()}
    with Progress(*columns, console=notices()) as bar:
        known, failed = len(read_campaign(bench, folder).results), 0
        task = bar.add_task("trials", total=len(by_key), completed=known)

        def on_entry(campaign: StoredCampaign[Any, Any], entry: ResultLine) -> None:
            nonlocal failed
            bar.update(task, completed=len(campaign.results) + len(campaign.broken))
            if entry.broken:
                bar.console.print(
                    f"  [yellow]broken[/yellow] {entry.trial}: {escape(entry.broken)}", highlight=False
                )
                return
            done = Done(by_key[entry.trial], campaign.results[entry.trial])
            if bench.success(done.result) is False:  # which and why is told after the table
                failed += 1
                bar.update(task, description=f"trials, {failed} not solved")
            elif remark := bench.remark(done):
                bar.console.print(f"  {escape(entry.trial)}: {escape(remark)}", highlight=False)

        return run_campaign(bench, folder, workers, scheduler, on_entry)


def _resume(folder: Path) -> str:
    return as_typed(f"bench resume {folder}")
