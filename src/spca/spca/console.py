"""The terminal: consoles for results and notices, tables, commands as the user types them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spca_core.errors import harmless


def results() -> Console:
    """Return the console of standard output, for what the user asked for."""
    return _console(stderr=False)


def notices() -> Console:
    """Return the console of standard error, for progress and complaints."""
    return _console(stderr=True)


def show_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table. Its first column holds names, which are never cut."""
    console = results()
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(heads), *cells]) for i in range(len(heads))]
    if not console.is_terminal:
        for row in [list(heads), *cells]:
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            console.print(line.rstrip(), markup=False)
        return
    table = Table(*heads, box=None, pad_edge=False)
    table.columns[0].min_width = widths[0]
    for row in cells:
        table.add_row(*row)
    console.print(table, markup=False)


def as_typed(arguments: str) -> str:
    """Return a command of this program as the user can type it again, by the launcher that was called."""
    return f"{os.environ.get('SPCA_LAUNCHER', 'spca')} {arguments}"


class _Console(Console):
    """Console that texts of levels, models and files cannot steer."""

    def render_str(self, text: str, **options: Any) -> Text:
        """See `Console.render_str`."""
        return super().render_str(harmless(text), **options)


def _console(stderr: bool) -> Console:
    console = _Console(stderr=stderr, highlight=False, emoji=False)  # `warehouse:one:` is a name
    console.soft_wrap = not console.is_terminal
    return console
