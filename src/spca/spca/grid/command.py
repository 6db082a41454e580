"""`spca bench grasp` and `spca bench minigrid`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.progress import Progress as Bar

from spca.grid.run import run_trial
from spca_core.paths import ROOT
from spca_minigrid.bench import MinigridBench, TrialRow, run_minigrid, summarise
from spca_minigrid.report import write_report as write_minigrid_report
from spca_programs.grasp.bench import GraspBench, run_grasp
from spca_programs.grasp.report import write_report as write_grasp_report


def bench_minigrid(bench: MinigridBench, out: Path | None = None, workers: int = 2) -> int:
    """Run the bench, show its figures, write its report; status 0 whatever the figures are."""
    folder = out or _new_folder("minigrid")
    console = Console(highlight=False)
    with Bar(console=console) as bar:
        task = bar.add_task("trials", total=None)

        def show(row: TrialRow, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            if not row.success:
                console.print(
                    f"  [red]✗[/red] {row.level} seed {row.seed}: {row.ended.ending.value} {row.ended.why}"
                )

        rows = run_minigrid(bench, folder, run_trial, workers, show)
    summary = summarise(rows)
    for group in (*summary.categories, *([summary.nine] if summary.nine else []), summary.overall):
        console.print(f"  {group.name:<32} {group.successes:>4}/{group.trials:<4} {100 * group.rate:5.1f} %")
    console.print(f"  report  {write_minigrid_report(bench, summary, rows, folder)}", soft_wrap=True)
    return 0


def bench_grasp(bench: GraspBench, out: Path | None = None, workers: int = 2) -> int:
    """Run the bench, show its figures, write its report; status 0 whatever the figures are."""
    folder = out or _new_folder("grasp")
    console = Console(highlight=False)
    with Bar(console=console) as bar:
        task = bar.add_task("environments", total=None)
        summary, rows = run_grasp(
            bench, folder, workers, lambda done, total: bar.update(task, completed=done, total=total)
        )
    for score in (*summary.by["rules"], summary.overall):
        console.print(f"  {score.name:<10} {score.count:>6} environments  {score.mean:6.2f} ± {score.sd:.2f}")
    for problem, count in summary.problems.items():
        console.print(f"  [yellow]no plan[/yellow] {count} times: {problem}")
    console.print(f"  report  {write_grasp_report(bench, summary, rows, folder)}", soft_wrap=True)
    return 0


def _new_folder(name: str) -> Path:
    return ROOT / "campaigns" / f"{datetime.now():%Y%m%d-%H%M%S}_{name}"
