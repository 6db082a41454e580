"""`spca bench levels`: a campaign with a progress bar, and its page at the end."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from spca.campaign.page import write_page
from spca.campaign.results import TrialResult, read_results
from spca.campaign.run import run_campaign
from spca.campaign.spec import CampaignSpec, select_levels
from spca.campaign.statistics import by, medians, success_rate
from spca_core.errors import EXIT_NOT_SOLVED, EXIT_SUCCESS, InputError
from spca_core.paths import ROOT
from spca_core.validation import first_problem

INTERRUPTED = 130


def bench(
    levels: list[str],
    presets: list[str],
    tables: int,
    first_seed: int,
    proposer: str,
    out: Path | None,
    workers: int | None,
    scheduler: str,
    baseline: Path | None,
) -> int:
    """Run (or go on with) a campaign; returns the exit status."""
    spec = _spec(levels, presets, tables, first_seed, proposer)
    if baseline is not None and not read_results(baseline)[0]:
        raise InputError("no campaign to compare with", where=str(baseline))
    folder = out or ROOT / "campaigns" / datetime.now().strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True, exist_ok=True)
    for complaint in read_results(folder)[1]:
        print(f"spca: {complaint}", file=sys.stderr)
    try:
        results = _run_with_progress(folder, spec, scheduler, workers)
    except KeyboardInterrupt:
        print(f"spca: interrupted; go on with --out {folder}", file=sys.stderr)
        return INTERRUPTED
    _show(results)
    print(f"  page  {write_page(folder, baseline)}")
    return EXIT_SUCCESS if all(r.success for r in results) else EXIT_NOT_SOLVED


def _spec(levels: list[str], presets: list[str], tables: int, first_seed: int, proposer: str) -> CampaignSpec:
    chosen = select_levels(tuple(levels))
    try:
        return CampaignSpec.model_validate(
            {
                "levels": chosen,
                "presets": presets,
                "tables": tables,
                "first_seed": first_seed,
                "proposer": proposer,
            }
        )
    except ValidationError as error:
        raise InputError("not a campaign", hint=first_problem(error)) from error


def _run_with_progress(
    folder: Path, spec: CampaignSpec, scheduler: str, workers: int | None
) -> list[TrialResult]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("trials", total=len(list(spec.trials())))

        def on_result(result: TrialResult, done: int, _: int) -> None:
            bar.update(task, completed=done)
            if not result.success:
                bar.console.print(f"{result.trial.key}: {result.outcome}: {result.cause}", highlight=False)

        return run_campaign(folder, spec, scheduler, workers, on_result)


def _show(results: list[TrialResult]) -> None:
    table = Table("preset", "group", "solved", "wall s", "simulated s", title="medians", box=None)
    for preset, trials in by(results, "preset").items():
        for group, members in [*by(trials, "group").items(), ("all", trials)]:
            rate, m = success_rate(members), medians(members)
            table.add_row(preset, group, f"{rate.good}/{rate.total}", f"{m['wall']:.2f}", f"{m['sim']:.1f}")
    Console().print(table)
