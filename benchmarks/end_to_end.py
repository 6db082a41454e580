"""Success and stage times of whole runs: levels on the nominal table and on random ones, noise on.

.venv/bin/python benchmarks/end_to_end.py                      # four levels, nominal + 20 tables, in-process
.venv/bin/python benchmarks/end_to_end.py --transport ros --tables 5
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from spca_core.options import RunOptions
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder

LEVELS = "touch_02,pickup_02,pick_and_place_01,stack_01"
STAGES = ("sense", "plan", "code", "act")


def main(
    levels: Annotated[str, typer.Option(help="Comma-separated level names.")] = LEVELS,
    tables: Annotated[int, typer.Option(help="Random tables a level, besides the nominal one.")] = 20,
    transport: Annotated[str, typer.Option(help="inproc or ros.")] = "inproc",
) -> None:
    """Run every level on every table; print success and medians."""
    console = Console()
    summary = Table(
        "level", "solved", "wall s", *(f"{s} s" for s in STAGES), "simulated s", title=f"medians, {transport}"
    )
    for level in levels.split(","):
        results = []
        for number in range(tables + 1):
            result = _run(level, transport, "nominal" if number == 0 else "shuffled", number)
            results.append(result)
            if not result.success:
                console.print(f"[red]{level} table {number}: {result.outcome}: {result.reason}[/red]")
        summary.add_row(
            level,
            f"{sum(r.success for r in results)}/{len(results)}",
            _median([r.wall for r in results]),
            *(_median([r.stage_wall.get(s, 0.0) for r in results]) for s in STAGES),
            _median([r.sim for r in results]),
        )
    console.print(summary)


def _run(level: str, transport: str, preset: str, seed: int) -> RunResult:
    options = RunOptions.model_validate(
        {"level": level, "transport": transport, "preset": preset, "seed": seed, "video": False}
    )
    with tempfile.TemporaryDirectory() as parent:
        folder = RunFolder.create(level, parent=Path(parent))
        from spca.runs import Run

        return Run(options, folder).advance()


def _median(values: list[float]) -> str:
    return f"{float(np.median(values)):.2f}"


if __name__ == "__main__":
    typer.run(main)
