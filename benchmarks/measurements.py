"""Keeps the project's current figures: one record a measurement, one page made from all of them.

    .venv/bin/python benchmarks/measurements.py campaign levels_hard Levels campaigns/hard
    .venv/bin/python benchmarks/measurements.py script motion Stages motion_planning.py --tables 40
    .venv/bin/python benchmarks/measurements.py page

The first two write `benchmarks/records/NAME.json`, from a finished campaign of `bin/spca bench` or from what
a script of this folder prints; a record of that name is replaced. The last one writes docs/measurements.md.
Measure on an idle machine.
"""

from __future__ import annotations

import csv
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from matplotlib import rc_context
from pydantic import Field

from spca_benchmarks.campaigns.campaign import bench_in, read_campaign, read_head
from spca_benchmarks.campaigns.page import new_figure
from spca_benchmarks.campaigns.statistics import Rate
from spca_core.model import Record
from spca_core.paths import ROOT
from spca_core.run_folder import write_atomically

PAGE = ROOT / "docs" / "measurements.md"
GROWTH = PAGE.parent / "images" / "growth.svg"
RECORDS = ROOT / "benchmarks" / "records"
SECTIONS = ("Levels", "Models", "Stages", "Rehearsal", "GRASP", "WorldCoder", "CoPiC")
_INTRODUCTION = """\
# Measurements

The project's current figures, one line for each measurement: what came out, the command that made it, and
the record, which holds the whole table with revision, date and machine. Where no model is named, plans are
those of the **built-in proposer**, with sensor noise on. Intervals are Wilson's at 95 %; times are medians.

```
.venv/bin/python benchmarks/measurements.py page          # makes this page from benchmarks/records/
```
"""

app = typer.Typer(help=__doc__, add_completion=False)
Name = Annotated[str, typer.Argument(help="The record's name; its figures are replaced.")]
Section = Annotated[str, typer.Argument(help=f"{', '.join(SECTIONS)}.")]


class Figures(Record):
    """One measurement: a table, or a text that a script printed."""

    name: str = Field("", exclude=True)
    """The record's file, without its ending."""
    section: str
    title: str
    command: str
    revision: str
    made: str
    """The date in ISO format."""
    machine: str
    about: str = ""
    result: str = ""
    """What came out, in one line; without it the page shows the table's row `all`."""
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    text: str = ""

    @property
    def line(self) -> str:
        """Its row on the page."""
        every = next((row for row in self.rows if row[0].strip("*") == "all"), ())
        cells = (
            f"{head} {cell}"
            for head, cell in zip(self.heads[1:], every[1:], strict=False)
            if cell.strip("– ")
        )
        record = f"[{self.revision}](../benchmarks/records/{self.name}.json)"
        return f"| {self.title} | {self.result or ', '.join(cells)} | `{self.command}` | {record} |"


@app.command()
def campaign(
    name: Name, section: Section, folder: Path, about: str = "", title: str = "", command: str = "",
    result: str = "",
    table: Annotated[int, typer.Option(min=1, help="Which table of the campaign's page.")] = 1,
) -> None:  # fmt: skip
    """Record a table of a finished campaign, as it stands on the campaign's page."""
    bench: Any = bench_in(folder)
    done = read_campaign(bench, folder).done
    rate = Rate.of(v for d in done if (v := bench.success(d.result)) is not None)
    solved = f"{rate} solved, 95 % interval {rate.percent_interval}. " if rate.total and not about else ""
    heads, *rows = csv.reader((folder / "paper" / f"table_{table}.csv").read_text().splitlines())
    _keep(
        name, section, title=title or bench.title,
        command=command or f"bin/spca bench {bench.name} (settings in the record)",
        revision=read_head(folder).software.git_revision, about=solved + about, result=result,
        heads=tuple(heads), rows=tuple(tuple(cell or "–" for cell in row) for row in rows),
    )  # fmt: skip


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def script(
    context: typer.Context, name: Name, section: Section, file: str, about: str = "", result: str = ""
) -> None:
    """Run a script of this folder with the options that follow, and record what it prints."""
    done = subprocess.run(
        [sys.executable, str(RECORDS.parent / file), *context.args],
        stdout=subprocess.PIPE, check=True, text=True, env={**os.environ, "COLUMNS": "110"},
    )  # fmt: skip
    revision = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True
    )
    _keep(
        name, section, title=name.replace("_", " ").capitalize(), text=done.stdout.rstrip(),
        about=about, result=result,
        command=" ".join(("benchmarks/" + file, *context.args)), revision=revision.stdout.strip(),
    )  # fmt: skip


@app.command()
def page() -> None:
    """Write docs/measurements.md from the records, and its picture."""
    PAGE.write_text("\n".join(lines()))
    draw_growth(next(figures for figures in _records() if figures.name == "speed_growth"))


def lines() -> Iterator[str]:
    """Yield the page's lines."""
    yield _INTRODUCTION
    for section in SECTIONS:
        yield f"## {section}\n"
        yield "| measurement | what came out | command | record, by revision |"
        yield "|---|---|---|---|"
        yield from (figures.line for figures in _records() if figures.section == section)
        yield ""
        if section == "Stages":
            yield f"![How a look, a plan and a run grow from 3 to 48 things](images/{GROWTH.name})\n"


def draw_growth(record: Figures) -> None:
    """Draw how long a look, a plan and a run take among more things, by what speed.py printed."""
    times: dict[str, list[tuple[int, float]]] = {}
    for count, what, ms in re.findall(r"(\d+) things: (look|plan|run) +│[^│]*│ +([\d,.]+)", record.text):
        times.setdefault(what, []).append((int(count), float(ms.replace(",", ""))))
    figure, axes = new_figure(5.0, 2.8)
    for what, points in times.items():
        axes.plot(*zip(*points, strict=True), "o-", label=what)
    axes.set(
        xlabel="things on the table",
        xticks=[n for n, _ in points],
        ylabel="ms",
        yscale="log",
    )
    axes.legend(frameon=False)
    figure.tight_layout()
    with rc_context({"svg.hashsalt": "spca", "svg.fonttype": "none"}):  # the same figures, the same file
        figure.savefig(GROWTH, metadata={"Date": None})


def _records() -> Iterator[Figures]:
    for path in sorted(RECORDS.glob("*.json")):
        yield Figures.model_validate_json(path.read_bytes()).model_copy(update={"name": path.stem})


def machine() -> str:
    """Return the machine in a few words."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    model = models[0].split(":")[1].strip() if models else platform.machine()
    return (
        f"{os.cpu_count()} cores ({model}), CPython {platform.python_version()}, "
        f"load average {os.getloadavg()[2]:.1f}"
    )


def _keep(name: str, section: str, **values: Any) -> None:
    if section not in SECTIONS:
        raise typer.BadParameter(f"section '{section}': one of {', '.join(SECTIONS)}")
    figures = Figures(section=section, made=f"{date.today()}", machine=machine(), **values)
    write_atomically(RECORDS / f"{name}.json", figures.model_dump_json(indent=1).encode())


if __name__ == "__main__":
    app()
