"""Writes docs/measurements.md: the results of campaigns and the median times of every stage.

The machine on which they were measured is named there too.

    .venv/bin/python benchmarks/measurements.py campaigns/shuffled campaigns/noisy-hard

Campaigns are made by `bin/spca bench levels`; the other benchmarks are run by this script. Run it on an idle
machine.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from spca.benches import bench_in
from spca.benches.levels import causes
from spca.benches.remedies import remedy_table
from spca_bench.campaign import read_campaign, read_head
from spca_bench.runs import RunSummary
from spca_bench.statistics import Rate, groups, median_of
from spca_core.paths import ROOT

OUT = ROOT / "docs" / "measurements.md"
BY_HAND = "<!-- What follows is written by hand and kept. -->"
SCRIPTS = {
    "Whole runs in one process": ["end_to_end.py"],
    "Whole runs over ROS 2": ["end_to_end.py", "--transport", "ros", "--tables", "5"],
    "Sensing": ["sense_accuracy.py", "--tables", "100"],
    "Planning": ["plan_stage.py"],
    "Motion": ["motion_planning.py", "--tables", "40"],
    "Simulator and camera": ["sim_speed.py"],
    "Sandbox": ["sandbox.py"],
}


def main(campaigns: Annotated[list[Path], typer.Argument(help="Folders of finished campaigns.")]) -> None:
    """Measure and write the page."""
    lines = [
        "# Measurements",
        "",
        f"Made by `benchmarks/measurements.py` on {date.today()}, {machine()}.",
        "",
    ]
    lines += [line for folder in campaigns for line in campaign_section(folder)]
    for title, command in SCRIPTS.items():
        print(f"{title} …", file=sys.stderr)
        done = subprocess.run(
            [sys.executable, str(ROOT / "benchmarks" / command[0]), *command[1:]],
            capture_output=True, check=True, text=True, env={**os.environ, "COLUMNS": "110"},
        )  # fmt: skip
        lines += [
            f"## {title}",
            "",
            f"`benchmarks/{' '.join(command)}`",
            "",
            "```",
            done.stdout.rstrip(),
            "```",
            "",
        ]
    by_hand = OUT.read_text().partition(BY_HAND)[2] if OUT.is_file() else ""
    OUT.write_text("\n".join([*lines, BY_HAND]) + by_hand)


def machine() -> str:
    """The machine in a few words."""
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    load = f"load average {os.getloadavg()[2]:.1f} from whatever else ran"
    return f"{os.cpu_count()} cores ({model}), no GPU, CPython {platform.python_version()}, {load}"


def campaign_section(folder: Path) -> Iterator[str]:
    """Success and medians by preset and group."""
    done = read_campaign(bench_in(folder), folder).done
    revision = read_head(folder).software.git_revision
    for preset, trials in sorted(groups(done, lambda d: d.trial.preset).items()):
        levels, tables = {d.trial.level for d in trials}, {d.trial.seed for d in trials}
        yield f"## Levels, `{preset}` tables"
        yield ""
        yield (
            f"{len(levels)} levels × {len(tables)} tables, built-in proposer, "
            f"in-process, revision {revision}."
        )
        yield "Medians; wall and simulated time are from the first look to the verdict."
        yield ""
        yield "| group | solved | 95 % interval | wall s | sense s | plan s | act s | simulated s |"
        yield "|---|---|---|---|---|---|---|---|"
        for group, members in [*sorted(groups(trials, lambda d: d.trial.group).items()), ("**all**", trials)]:
            yield row(group, [d.result for d in members])
        yield ""
        yield from remedies([d.result for d in trials])
        for cause, count in causes(d.result for d in trials):
            yield f"* {count} × {cause}"
        yield ""


def remedies(results: list[RunSummary]) -> Iterator[str]:
    """The table of remedies by kind of disturbance, where there were any."""
    if not any(r.disturbed for r in results):
        return
    table = remedy_table(results)
    yield "Runs in which each kind happened, those solved, and the runs that used each remedy:"
    yield ""
    yield f"| {' | '.join(table.heads)} |"
    yield "|" + "---|" * len(table.heads)
    for cells in table.shown():
        yield f"| {' | '.join(cells)} |"
    yield ""


def row(group: str, results: list[RunSummary]) -> str:
    """One line of a campaign's table."""
    rate = Rate.of(r.success for r in results)
    times = [median_of(r.wall for r in results)]
    times += [median_of(r.stage_wall.get(s, 0.0) for r in results) for s in ("sense", "plan", "act")]
    times.append(median_of(r.sim for r in results))
    return f"| {group} | {rate} | {rate.percent_interval} | {' | '.join(f'{t:.2f}' for t in times)} |"


if __name__ == "__main__":
    typer.run(main)
