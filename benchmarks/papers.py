"""Writes docs/papers.md: what of the five papers can be run here, row by row.

    .venv/bin/python benchmarks/papers.py

Rows are in `benchmarks/papers.psv`, published figures in `published.csv` of `spca_benchmarks.campaigns`, ours
in `benchmarks/records/`; the page holds no figure of its own.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from spca_benchmarks.campaigns.published import cells
from spca_core.paths import ROOT
from spca_core.run_folder import write_atomically

PAGE = ROOT / "docs" / "papers.md"
SEEDS = {
    "SPCA": "SPCA (Pesjak and Žabkar, 2026)",
    "GRASP": "GRASP (Tang and Kejriwal, 2024)",
    "IPP": "IPP (Vaithinathan Aravindan, Tang and Kejriwal, 2025)",
    "WorldCoder": "WorldCoder (Tang, Key and Ellis, 2024, first version)",
    "CoPiC": "CoPiC (Tian et al.)",
}
SIGNS = {
    "same": "as the paper has it, or within its spread",
    "better": "more than the paper has, or a better figure",
    "runs": "works by the command; a figure to compare needs a model's key, or hours",
    "in part": "something is left out or replaced; the row says what",
    "differs": "done in another way on purpose",
    "missing": "not there; the row says what it would need",
}
_INTRODUCTION = """\
# Five papers, row by row

What spca has of each paper: system, baselines, tables and figures, under the paper's labels. Each row names
the command or file to try, the published figure, ours (from [measurements](measurements.md)) and how they
compare. No prompt, sentence or code of the papers is used.

Where a language model is asked, ours needs one: `a.yaml` stands for its [configuration](models.md). The
built-in proposer, synthesizer and grammar **stand in** for a model; their figures do not compare with a
model's, and the row says so. All {count:,} printed cells are in `published.csv` of
`spca_benchmarks.campaigns`. This page is made by `benchmarks/papers.py`.

On 28 November 2026, at 917fb398 and what came of it, each row was checked against its paper and tried by
its command, run small, by who did not write it; a script on loopback or recorded answers took a model's
place, and rows of one bench shared a run. Every cell of `published.csv` was compared with the papers' text.
Not run: Gazebo (S23), and the released answers, a download (G9). What needs torch (S42, S43, W18, W24, C3),
nle (C9) or robosuite (C11) ended with a line that says so. Cut on a busy machine after one to four minutes,
with no fault up to there: the trainings of C5, C12, C23 and C24, the benches of C8, C30 and W21, S30 after
half of its levels, value iteration (W7) after ten episodes, and C18 in its first trial.
"""
_HEADS = ("in the paper", "what", "here", "published", "ours", "how they compare")
_MODEL = ROOT / "benchmarks" / "papers_model.md"


class Row(NamedTuple):
    """One row of the page."""

    id: str
    label: str
    what: str
    here: str
    published: str
    ours: str
    sign: str
    why: str

    @property
    def seed(self) -> str:
        """The paper."""
        return next(seed for seed in SEEDS if seed[0] == self.id[0])

    @property
    def places(self) -> list[str]:
        """Commands, which begin with `spca`, and files."""
        return [place.strip() for place in self.here.split(";") if place.strip()]


def rows() -> list[Row]:
    """Read all of them."""
    lines = (ROOT / "benchmarks" / "papers.psv").read_text(encoding="utf-8").splitlines()[1:]
    return [Row(*line) for line in csv.reader(lines, delimiter="|", quoting=csv.QUOTE_NONE)]


def printed_cells(row: Row) -> str:
    """The published figures that a row names. Raises KeyError where the paper has none."""
    references = [
        [part.strip() for part in one.split(" > ")] for one in row.published.split(";") if one.strip()
    ]
    several = len({table for table, *_ in references}) > 1
    return "; ".join(
        (f"{table}: " if several and column != ["*"] else "") + _printed(row.seed, table, *column)
        for table, *column in references
    )


def _printed(seed: str, table: str, name: str, column: str = "value") -> str:
    known = [c for c in cells().values() if (c.seed, c.table) == (seed, table)]
    if name == "*":
        return f"{table}: {len(known)} cells"
    if column == "*":
        found = [f"{c.column} {c.value}{c.unit and f' {c.unit}'}" for c in known if c.row == name]
        if not found:
            raise KeyError((seed, table, name))
        return f"{name}: {', '.join(found)}"
    cell = cells()[seed, table, name, column]
    words = name if column == "value" else f"{name}, {column}"
    return f"{words} {cell.value}{' ' if cell.unit else ''}{cell.unit}"


def our_figures(row: Row) -> str:
    """Our text, with the figures of records in it. Raises where a record has none."""
    return re.sub(r"\{([^{}]+)\}", lambda found: _recorded(*found[1].split(" > ")), row.ours)


def _recorded(record: str, name: str = "", head: str = "") -> str:
    content = json.loads((ROOT / "benchmarks" / "records" / f"{record}.json").read_text(encoding="utf-8"))
    if not name:  # of a script, which prints the published figure last
        return str(content["text"]).partition("; published")[0]
    line = next(line for line in content["rows"] if line[0].strip("*") == name)
    return str(line[content["heads"].index(head)])


def lines() -> Iterator[str]:
    """The page."""
    known = rows()
    yield from _INTRODUCTION.format(count=len(cells())).splitlines()
    yield from ("", "| sign | |", "|---|---|")
    yield from (f"| **{sign}** | {words} |" for sign, words in SIGNS.items())
    yield from ("", f"| paper | rows | {' | '.join(SIGNS)} |", "|---|--:" + "|--:" * len(SIGNS) + "|")
    for seed in (*SEEDS, "all"):
        counts = Counter(row.sign for row in known if seed in ("all", row.seed) and row.sign in SIGNS)
        yield f"| {seed} | {sum(counts.values())} | {' | '.join(str(counts[sign]) for sign in SIGNS)} |"
    for seed, title in SEEDS.items():
        yield from ("", f"## {title}", "", f"| {' | '.join(_HEADS)} |", "|---" * len(_HEADS) + "|")
        for row in known:
            if row.seed == seed:
                here = "<br>".join(f"`{place}`" for place in row.places)
                sign = f"**{row.sign}**" if row.sign in SIGNS else ""
                why = ": ".join(filter(None, (sign, row.why)))
                figures = (printed_cells(row), our_figures(row))
                yield f"| {' | '.join((f'**{row.id}** {row.label}', row.what, here, *figures, why))} |"
    yield from ("", *_MODEL.read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Write the page."""
    write_atomically(PAGE, ("\n".join(lines()) + "\n").encode())


if __name__ == "__main__":
    main()
