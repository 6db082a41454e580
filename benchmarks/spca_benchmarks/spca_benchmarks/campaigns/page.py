"""The page of a campaign: a report with figures, which for a paper can be had as files of their own."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, Template

from spca import pages
from spca_core.run_folder import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"±": r"$\pm$", "≤": r"$\le$", "≥": r"$\ge$", "×": r"$\times$", "∞": r"$\infty$", "–": "--"}
)
_COLUMNS = 100  # of a terminal
_STYLE: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"}


class PageTable(NamedTuple):
    """Heads and rows; numbers with a fraction are shown with at most two decimals."""

    heads: Sequence[str]
    rows: Sequence[Sequence[object]] = ()

    def shown(self) -> list[list[str]]:
        """Return the rows as text."""
        return [[_cell(c) for c in row] for row in self.rows]

    def narrow(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return heads and rows for a terminal: rows as columns where that fits it and the table does not."""
        rows = [list(self.heads), *self.shown()]
        turned = [list(column) for column in zip(*rows, strict=True)]
        fits_better = _width(rows) > _COLUMNS and _width(turned) < _width(rows)
        heads, *shown = turned if fits_better else rows
        return heads, shown

    def filled(self) -> PageTable:
        """Return the table without the columns in which every row has None."""
        used = [k for k in range(len(self.heads)) if any(row[k] is not None for row in self.rows)]
        return PageTable([self.heads[k] for k in used], [[row[k] for k in used] for row in self.rows])


def new_figure(width: float = 6.4, height: float = 3.0, columns: int = 1) -> tuple[Figure, Any]:
    """Return a figure of `width` by `height` inches in the pages' style, and its axes, one or several."""
    from matplotlib import rc_context  # loads slowly, and most who import this module draw nothing
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        return figure, figure.subplots(1, columns)


class Page(pages.Page):
    """A report with headings, listings, tables, and figures drawn as SVG."""

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._add("heading", text=text)

    def listing(self, title: str, text: str) -> None:
        """Add text in its own layout (code, a plan), folded away under a title."""
        self._add("listing", title=title, text=text)

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> None:
        """Add a table."""
        self._add("table", heads=heads, rows=PageTable(heads, list(rows)).shown(), caption=caption)

    def figure(self, figure: Figure, caption: str = "") -> None:
        """Add a matplotlib figure."""
        self._add("figure", figure=figure, caption=caption, svg=_drawn(figure, "svg").decode())

    def write(self, path: Path, apart: Path | None = None) -> Path:
        """Render the page to a file; return its path.

        In the folder `apart`, if there is one, each figure is a file of its own as SVG and PDF, each table as
        CSV and LaTeX (with the package `booktabs`).
        """
        if apart is not None:
            for name, data in self._apart():
                write_atomically(apart / name, data)
        return super().write(path)

    def _apart(self) -> Iterator[tuple[str, bytes]]:
        section, figures, tables = self._title, itertools.count(1), itertools.count(1)
        for part in self._parts:
            if part["kind"] == "heading":
                section = part["text"]
            elif part["kind"] == "figure":
                name = f"figure_{next(figures)}"
                yield f"{name}.svg", part["svg"].encode()
                yield f"{name}.pdf", _drawn(part["figure"], "pdf")
            elif part["kind"] == "table":
                name = f"table_{next(tables)}"
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows([part["heads"], *part["rows"]])
                yield f"{name}.csv", text.getvalue().encode()
                tex = _latex().render({**part, "caption": part["caption"] or section})
                yield f"{name}.tex", tex.encode()


@cache
def _latex() -> Template:
    env = Environment(loader=PackageLoader("spca_benchmarks.campaigns"), trim_blocks=True, lstrip_blocks=True)
    env.filters["tex"] = lambda text: str(text).translate(_TEX)
    return env.get_template("table.tex.j2")


def _drawn(figure: Figure, form: str) -> bytes:
    from matplotlib import rc_context

    file = io.BytesIO()
    with rc_context(_STYLE):
        figure.savefig(file, format=form, bbox_inches="tight")
    return file.getvalue()[file.getvalue().index(b"<svg") if form == "svg" else 0 :]


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Return the characters in a row of a table with two blanks between its columns."""
    return sum(2 + max(map(len, column)) for column in zip(*rows, strict=True)) - 2


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)
