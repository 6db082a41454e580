"""The index of all runs and campaigns: one page, the newest first, with a picture of each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from spca.events import Event
from spca.report.page import REPORT, picture, templates
from spca_core.options import Manifest
from spca_core.paths import CAMPAIGNS, RUNS
from spca_core.result import RunResult
from spca_core.run_folder import MANIFEST, RunFolder, write_atomically
from spca_core.validation import YAML_FILES

INDEX = "index.html"
_ELSEWHERE = "elsewhere.txt"  # among the campaigns: the folders of those that lie in other places
_WIDTH = 320  # px of a picture


@dataclass(frozen=True)
class RunCard:
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


def _runs(folder: Path) -> Iterator[RunCard]:
    for path in folder.glob(f"*/{MANIFEST}"):
        run = path.parent
        try:
            options = Manifest.model_validate_json(path.read_bytes()).options
            title = _task(run) if options.level.endswith(YAML_FILES) else options.level
            about = f"{options.preset}, seed {options.seed}, {options.proposer}"
        except (OSError, ValidationError):
            title, about = run.name, "written by another version"
        good: bool | None
        try:
            result = RunResult.model_validate_json((run / "result.json").read_bytes())
            outcome, good = result.outcome.value.replace("_", " "), result.success
        except (OSError, ValidationError):
            outcome, good = ("broken", False) if (run / "crash.txt").is_file() else ("not finished", None)
        page = run / REPORT
        yield RunCard(
            name=run.name,
            title=title,
            about=about,
            outcome=outcome,
            good=good,
            changed=_changed(run),
            link=f"{run.name}/{REPORT if page.is_file() else ''}",
            picture=_picture(run),
        )


def _task(run: Path) -> str:
    """Return the task of a run whose level is a file."""
    begun = next(RunFolder(run).lines(Event), None)
    return begun.text if begun else run.name


def _campaigns(runs: Path, folder: Path) -> Iterator[RunCard]:
    """Campaigns and benches: every folder with a page, in either place."""
    pages = [
        *folder.glob("*/*.html"),
        *(page for other in _elsewhere(folder) for page in other.glob("*.html")),
        *(p for p in runs.glob("*/*.html") if not (p.parent / MANIFEST).exists()),
    ]
    for page in pages:
        yield RunCard(
            name=page.parent.name,
            title=page.parent.name,
            about="campaign or bench",
            outcome="",
            good=None,
            changed=_changed(page.parent),
            link=Path(os.path.relpath(page, runs)).as_posix(),
            picture=_first_picture(page.with_name("results.jsonl")),
        )


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
    """The first thumbnail among a campaign's results."""
    for line in results.read_bytes().splitlines() if results.is_file() else ():
        try:
            found = json.loads(line)["result"]["thumbnail"]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(found, str) and found.startswith("data:image/jpeg;base64,"):
            return found
    return ""


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime)


def _picture(run: Path) -> str:
    """A small picture of a run: its last one, or else what was seen first."""
    return picture(run / "thumbnail.jpg", _WIDTH) or picture(run / "looks" / "01.jpg", _WIDTH)
