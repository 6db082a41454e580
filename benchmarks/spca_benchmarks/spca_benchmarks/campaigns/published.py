"""Every figure that the papers print, to stand beside ours."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from spca_benchmarks.campaigns.page import PageTable


class PublishedCell(NamedTuple):
    """One figure as it is printed; `seed` is the paper, `table` its label there (`Table 7`, `Fig. 4a`)."""

    seed: str
    table: str
    row: str
    column: str
    value: str
    unit: str


@cache
def cells() -> dict[tuple[str, ...], PublishedCell]:
    """Return all published figures by paper, table, row and column."""
    text = Path(__file__).with_suffix(".csv").read_text(encoding="utf-8")
    return {tuple(row[:4]): PublishedCell(*row) for row in csv.reader(text.splitlines()[1:])}


def published(seed: str, table: str, row: str, column: str = "value") -> float:
    """Return one published figure. Raises KeyError where the paper has none."""
    return float(cells()[seed, table, row, column].value)


def printed(seed: str, table: str, keep: Callable[[PublishedCell], bool] = lambda cell: True) -> PageTable:
    """Return a table as the paper prints it, or the cells of it that `keep` accepts."""
    found = [cell for cell in cells().values() if (cell.seed, cell.table) == (seed, table) and keep(cell)]
    columns = list(dict.fromkeys(cell.column for cell in found))
    values = {(cell.row, cell.column): cell.value for cell in found}
    rows = [(row, *(values.get((row, c), "") for c in columns)) for row in {cell.row: 0 for cell in found}]
    return PageTable((f"{seed}, {table}", *columns), rows)
