"""A report as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, Template

from spca_core.run_folder import write_atomically


@dataclass(frozen=True)
class Card:
    """A small picture (a data URI, or empty) with a caption and a link; both may be empty."""

    title: str
    text: str
    link: str = ""
    picture: str = ""
    good: bool | None = None
    """The card shows a success; None where it shows neither a success nor a failure."""


class Page:
    """Collects the parts of a report in their order; `write` makes the file."""

    def __init__(self, title: str, subtitle: str = "") -> None:
        self._title, self._subtitle = title, subtitle
        self._parts: list[dict[str, Any]] = []

    def text(self, text: str, warning: bool = False) -> None:
        """Add a paragraph; in red if it is a warning."""
        self._add("text", text=text, warning=warning)

    def cards(self, cards: Sequence[Card]) -> None:
        """Add small pictures with captions, side by side."""
        self._add("cards", cards=cards)

    def write(self, path: Path) -> Path:
        """Render the page to a file; return its path."""
        text = _template().render(title=self._title, subtitle=self._subtitle, parts=self._parts)
        write_atomically(path, text.encode(errors="replace"))
        return path

    def _add(self, kind: str, **values: Any) -> None:
        self._parts.append({"kind": kind, **values})


@cache
def _template() -> Template:
    templates = Environment(
        loader=PackageLoader("spca.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return templates.get_template("page.html.j2")
