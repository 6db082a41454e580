"""Gathers a run folder's files and renders the page. Missing parts are left out: a crashed run has a report too."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from pydantic import BaseModel, ValidationError

from spca.events import Event
from spca.report.timeline import contact_timeline, step_timeline
from spca.result import RunResult
from spca_core.options import Manifest
from spca_core.plan import ActResult, CodeResult, PlanResult
from spca_core.run_folder import EVENTS, MANIFEST, RunFolder

REPORT = "report.html"


def write_report(folder: RunFolder) -> Path:
    """Render `report.html` in the run's folder; returns its path."""
    path = folder.path
    result = _load(path / "result.json", RunResult)
    events = list(folder.lines(Event, EVENTS))
    intervals = _json(path / "contacts.json") or []
    acts = [a for f in _numbered(path, "act_*.json") if (a := _load(f, ActResult))]
    plans = [p for f in _numbered(path, "plan_*.json") if (p := _load(f, PlanResult))]
    codes = [c for f in _numbered(path, "code_*.json") if (c := _load(f, CodeResult))]
    steps = [step for act in acts for step in act.steps]
    end = result.sim if result else max([s.ended for s in steps], default=1.0)
    page = (
        _templates()
        .get_template("report.html.j2")
        .render(
            name=path.name,
            manifest=_load(path / MANIFEST, Manifest),
            result=result,
            events=events,
            plans=plans,
            codes=[c for c in codes if c.drafts],
            acts=acts,
            looks=[_look(f) for f in sorted((path / "looks").glob("*.jpg"))],
            steps=step_timeline(steps, end),
            contacts=contact_timeline(intervals, end),
            video=_data_uri(path / "video.mp4", "video/mp4"),
            crash=_text(path / "crash.txt"),
        )
    )
    folder.write(REPORT, page)
    return path / REPORT


def _templates() -> Environment:
    loader = PackageLoader("spca.report")
    return Environment(
        loader=loader, autoescape=select_autoescape(default=True), trim_blocks=True, lstrip_blocks=True
    )


def _numbered(path: Path, pattern: str) -> list[Path]:
    """Files of all rounds in the order they were written: `round_2/plan_7.json` after `round_1/plan_2.json`."""
    return sorted(path.glob(f"round_*/{pattern}"), key=lambda f: int(f.stem.split("_")[-1]))


def _load(path: Path, kind: type[BaseModel]) -> Any:
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _look(path: Path) -> dict[str, Any]:
    scene = _json(path.with_suffix(".json")) or {}
    return {"image": _data_uri(path, "image/jpeg"), "stamp": scene.get("stamp", 0.0), "scene": scene}


def _data_uri(path: Path, kind: str) -> str:
    if not path.is_file():
        return ""
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
