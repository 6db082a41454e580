"""A report as one self-contained HTML page, and the index of all runs and campaigns: the newest first."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from spca.journal import Event
from spca.report import REPORT, load, picture, templates
from spca_core.options import Manifest
from spca_core.paths import CAMPAIGNS, RUNS
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, RunFolder, write_atomically
from spca_core.validation import YAML_FILES


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
        template = templates().get_template("page.html.j2")
        text = template.render(title=self._title, subtitle=self._subtitle, parts=self._parts)
        write_atomically(path, text.encode(errors="replace"))
        return path

    def _add(self, kind: str, **values: Any) -> None:
        self._parts.append({"kind": kind, **values})


INDEX = "index.html"
_ELSEWHERE = "elsewhere.txt"  # among the campaigns: the folders of those that lie in other places
_WIDTH = 320  # px of a picture


def write_index(runs: Path = RUNS, campaigns: Path = CAMPAIGNS) -> Path:
    """Write `index.html` into the folder of runs; return its path.

    What cannot be read is listed without details.
    """
    entries = sorted((*_runs(runs), *_campaigns(runs, campaigns)), key=lambda e: e[0], reverse=True)
    page = Page("Runs and campaigns", f"{len(entries)}, the newest first")
    if not entries:
        page.text("There are no runs yet: `spca run stack_01` makes one.")
    page.cards([card for _, card in entries])
    return page.write(runs / INDEX)


def _runs(folder: Path) -> Iterator[tuple[float, Card]]:
    for path in folder.glob(f"*/{MANIFEST}"):
        run = path.parent
        title, about = run.name, "written by another version"
        if manifest := load(path, Manifest):
            options = manifest.options
            title = options.level
            if title.endswith(YAML_FILES):  # its task
                title = begun.text if (begun := next(RunFolder(run).read_log(Event), None)) else run.name
            about = f"{options.preset}, seed {options.seed}, {options.proposer}"
        good: bool | None
        if result := load(run / "result.json", RunResult):
            outcome, good = result.words, result.success
        else:
            outcome, good = ("broken", False) if (run / "crash.txt").is_file() else ("not finished", None)
        page = run / REPORT
        link = f"{run.name}/{REPORT if page.is_file() else ''}"
        shown = picture(run / "thumbnail.jpg", _WIDTH) or picture(run / "looks" / "01.jpg", _WIDTH)
        yield _card(run, title, f"{outcome} · {about}", link, shown, good)


def _campaigns(runs: Path, folder: Path) -> Iterator[tuple[float, Card]]:
    """Yield time and card of every campaign and bench: of each folder with a page, in either place."""
    pages = [
        *folder.glob("*/*.html"),
        *(page for other in _elsewhere(folder) for page in other.glob("*.html")),
        *(p for p in runs.glob("*/*.html") if not (p.parent / MANIFEST).exists()),
    ]
    for page in pages:
        link = Path(os.path.relpath(page, runs)).as_posix()
        shown = _first_picture(page.with_name("results.jsonl"))
        yield _card(page.parent, page.parent.name, "campaign or bench", link, shown)


def remember(campaign: Path, campaigns: Path = CAMPAIGNS) -> None:
    """Have the index list a campaign that lies elsewhere; one that is gone is forgotten."""
    campaign = campaign.resolve()
    if campaign.parent == campaigns.resolve():
        return
    known = [path for path in _elsewhere(campaigns) if path != campaign]
    write_atomically(campaigns / _ELSEWHERE, "".join(f"{path}\n" for path in (*known, campaign)).encode())


def _elsewhere(campaigns: Path) -> list[Path]:
    file = campaigns / _ELSEWHERE
    lines = file.read_text(errors="replace").splitlines() if file.is_file() else []
    return [path for line in lines if (path := Path(line)).is_dir()]


def _first_picture(results: Path) -> str:
    """Return the first thumbnail among a campaign's results, as a data URI; empty without one."""
    for line in results.read_bytes().splitlines() if results.is_file() else ():
        try:
            found = json.loads(line)["result"]["thumbnail"]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(found, str) and found.startswith("data:image/jpeg;base64,"):
            return found
    return ""


def _card(
    folder: Path, title: str, about: str, link: str, shown: str, good: bool | None = None
) -> tuple[float, Card]:
    """Return when a folder was changed, in seconds since the epoch, and its card."""
    changed = folder.stat().st_mtime
    when = f"{about} · {datetime.fromtimestamp(changed):%Y-%m-%d %H:%M}"
    text = when if title == folder.name else f"{when} · {folder.name}"
    return changed, Card(title=title, text=text, link=link, picture=shown, good=good)
