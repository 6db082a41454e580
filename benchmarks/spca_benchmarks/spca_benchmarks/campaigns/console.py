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
from spca.report.pages import remember
from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.campaign import RESULTS, ResultLine, StoredCampaign, read_campaign, read_head
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.campaigns.report import write_report
from spca_core.errors import EXIT_INTERRUPTED, EXIT_NOT_SOLVED, EXIT_SUCCESS, InputError
from spca_core.paths import CAMPAIGNS


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
        campaign = _with_progress(bench, folder, workers, scheduler)
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
    table = campaign.bench.table(campaign.done)
    show_table(table.heads, table.shown())
    if campaign.broken:
        notices().print(
            f"  [yellow]{len(campaign.broken)} broken[/yellow], not counted; resuming runs them again"
        )
    if campaign.stopped:
        notices().print(f"  [yellow]ended early[/yellow]: {escape(campaign.stopped)}")
    results().print(f"page  {write_report(campaign, baseline)}", soft_wrap=True, markup=False)
    with suppress(OSError):  # the index is a convenience
        remember(campaign.folder)


def _with_progress(
    bench: Bench[Any, Any], folder: Path, workers: int | None, scheduler: str
) -> StoredCampaign[Any, Any]:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn()
    )  # fmt: skip
    trials = bench.trials()
    by_key = {t.key: t for t in trials}
    with Progress(*columns, console=notices()) as bar:
        known = len(read_campaign(bench, folder).results)
        task = bar.add_task("trials", total=len(trials), completed=known)

        def on_entry(campaign: StoredCampaign[Any, Any], entry: ResultLine) -> None:
            bar.update(task, completed=len(campaign.results) + len(campaign.broken))
            if entry.broken:
                bar.console.print(
                    f"  [yellow]broken[/yellow] {entry.trial}: {escape(entry.broken)}", highlight=False
                )
                return
            remark = bench.remark(Done(by_key[entry.trial], campaign.results[entry.trial]))
            if remark:
                bar.console.print(f"  {escape(entry.trial)}: {escape(remark)}", highlight=False)

        return run_campaign(bench, folder, workers, scheduler, on_entry)


def _resume(folder: Path) -> str:
    return as_typed(f"bench resume {folder}")
