"""The index of all runs and campaigns: one page, the newest first, with a picture of each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from spca.report.page import REPORT, picture, templates
from spca_core.options import Manifest
from spca_core.paths import ROOT, RUNS
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, write_atomically

CAMPAIGNS = ROOT / "campaigns"
INDEX = "index.html"
_WIDTH = 320  # px of a picture


@dataclass(frozen=True)
class Entry:
    """One card of the page; `link` and `picture` (a data URI) may be empty."""

    name: str
    title: str
    about: str
    outcome: str
    good: bool | None
    changed: datetime
    link: str
    picture: str


def write_index(runs: Path = RUNS, campaigns: Path = CAMPAIGNS) -> Path:
    """Write `index.html` into the folder of runs; returns its path.

    What cannot be read is listed without details.
    """
    entries = sorted((*_runs(runs), *_campaigns(runs, campaigns)), key=lambda e: e.changed, reverse=True)
    page = templates().get_template("index.html.j2").render(entries=entries)
    write_atomically(runs / INDEX, page.encode(errors="replace"))
    return runs / INDEX


def _runs(folder: Path) -> Iterator[Entry]:
    for path in folder.glob(f"*/{MANIFEST}"):
        run = path.parent
        try:
            options = Manifest.model_validate_json(path.read_bytes()).options
            title, about = options.level, f"{options.preset}, seed {options.seed}, {options.proposer}"
        except (OSError, ValidationError):
            title, about = run.name, "written by another version"
        good: bool | None
        try:
            result = RunResult.model_validate_json((run / "result.json").read_bytes())
            outcome, good = result.outcome.value.replace("_", " "), result.success
        except (OSError, ValidationError):
            outcome, good = ("broken", False) if (run / "crash.txt").is_file() else ("not finished", None)
        page = run / REPORT
        yield Entry(
            name=run.name,
            title=title,
            about=about,
            outcome=outcome,
            good=good,
            changed=_changed(run),
            link=f"{run.name}/{REPORT if page.is_file() else ''}",
            picture=_picture(run),
        )


def _campaigns(runs: Path, folder: Path) -> Iterator[Entry]:
    """Campaigns and benches: every folder with a page, in either place."""
    pages = [
        *folder.glob("*/*.html"),
        *(p for p in runs.glob("*/*.html") if not (p.parent / MANIFEST).exists()),
    ]
    for page in pages:
        yield Entry(
            name=page.parent.name,
            title=page.parent.name,
            about="campaign or bench",
            outcome="",
            good=None,
            changed=_changed(page.parent),
            link=Path(os.path.relpath(page, runs)).as_posix(),
            picture="",
        )


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime)


def _picture(run: Path) -> str:
    """A small picture of a run: its last one, or else what was seen first."""
    return picture(run / "thumbnail.jpg", _WIDTH) or picture(run / "looks" / "01.jpg", _WIDTH)
