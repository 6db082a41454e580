"""A report as one self-contained HTML page: headings, tables, listings and figures drawn as SVG."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from matplotlib.figure import Figure


class Page:
    """Collects the parts of a report in their order; `write` makes the file."""

    def __init__(self, title: str, subtitle: str = "") -> None:
        self._title, self._subtitle = title, subtitle
        self._parts: list[dict[str, Any]] = []

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append({"kind": "heading", "text": text})

    def text(self, text: str) -> None:
        """A paragraph."""
        self._parts.append({"kind": "text", "text": text})

    def listing(self, title: str, text: str) -> None:
        """Text in its own layout (code, a plan), folded away under a title."""
        self._parts.append({"kind": "listing", "title": title, "text": text})

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table; numbers are shown with at most two decimals."""
        shown = [[f"{c:.2f}" if isinstance(c, float) else c for c in row] for row in rows]
        self._parts.append({"kind": "table", "heads": heads, "rows": shown})

    def figure(self, figure: Figure) -> None:
        """A matplotlib figure."""
        svg = io.StringIO()
        figure.savefig(svg, format="svg", bbox_inches="tight")
        text = svg.getvalue()
        self._parts.append({"kind": "figure", "svg": text[text.index("<svg") :]})

    def write(self, path: Path) -> Path:
        """Render the page to a file; returns its path."""
        templates = Environment(
            loader=PackageLoader("spca_bench"),
            autoescape=select_autoescape(default=True),
            trim_blocks=True,
            lstrip_blocks=True,
        )
        template = templates.get_template("page.html.j2")
        path.write_text(
            template.render(title=self._title, subtitle=self._subtitle, parts=self._parts), encoding="utf-8"
        )
        return path
