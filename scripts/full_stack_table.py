"""The table of docs/full-stack.md that scripts/full_stack_check writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

BEGIN, END = "<!-- scripts/full_stack_check -->", "<!-- end -->"
HEAD = "| what | when | with | what came out |\n|---|---|---|---|"
NOT_RUN = "not run"


@dataclass(frozen=True)
class Row:
    """What was run, when (a date, or `NOT_RUN`), with what, and what came out, or what is missing."""

    what: str
    when: str
    versions: str
    outcome: str

    @property
    def ran(self) -> bool:
        """Whether it was run at all."""
        return self.when != NOT_RUN


def rows_of(page: str) -> list[Row]:
    """The rows of a page's table."""
    _, begun, rest = page.partition(BEGIN)
    table, ended, _ = rest.partition(END)
    if not (begun and ended):
        return []
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    cells = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines)
    return [Row(*(cell.replace("\\|", "|") for cell in row)) for row in cells]


def merged(before: Sequence[Row], now: Sequence[Row]) -> list[Row]:
    """The rows in their order, with the new ones in place of old ones, unless the new one was not run."""
    new = {row.what: row for row in now}
    kept = [
        new.pop(row.what) if row.what in new and (new[row.what].ran or not row.ran) else row for row in before
    ]
    known = {row.what for row in kept}
    return [*kept, *(row for row in new.values() if row.what not in known)]


def written(page: str, rows: Sequence[Row]) -> str:
    """The page with these rows as its table; a page that has none gets it at its end."""
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in (r.what, r.when, r.versions, r.outcome)) + " |"
        for r in rows
    ]
    table = "\n".join([BEGIN, "", HEAD, *lines, "", END])
    before, begun, rest = page.partition(BEGIN)
    return before + table + rest.partition(END)[2] if begun else f"{page.rstrip()}\n\n{table}\n".lstrip()
