"""The command behind `spca bench pddl`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from spca.pddl_bench.page import write_page
from spca.pddl_bench.run import PddlBench, run_bench
from spca.pddl_bench.statistics import model_rows
from spca.pddl_bench.trial import Trial
from spca_core.paths import RUNS


def bench_pddl(bench: PddlBench, out: Path | None = None) -> Path:
    """Run a bench and show its table; returns the page's path. Raises InputError before anything is asked."""
    folder = out or RUNS / f"{datetime.now():%Y%m%d-%H%M%S}_pddl"
    console = Console()

    def tell(trial: Trial) -> None:
        fate = f"solved at attempt {trial.solved_at}" if trial.solved_at else trial.status.replace("_", " ")
        console.print(f"  {trial.model}  {trial.task}  {fate}", highlight=False, markup=False)

    trials, note = run_bench(bench, folder, tell)
    table = Table("model", "trials", "solved@1", f"solved@{bench.attempts}", "tokens", "USD", box=None)
    for row in model_rows(trials, bench.attempts):
        table.add_row(
            row.model,
            str(row.trials),
            f"{row.solved[0]:.0%}",
            f"{row.solved[-1]:.0%}",
            str(row.input_tokens + row.output_tokens),
            f"{row.usd:.4f}",
        )
    console.print(table)
    if note:
        console.print(f"  ended early: {note}", style="yellow", markup=False)
    page = write_page(folder, note)
    console.print(f"  report  {page}", highlight=False, soft_wrap=True)
    return page
