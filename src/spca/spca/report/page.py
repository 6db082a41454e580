"""Gathers a run folder's files and renders the page.

Missing parts are left out: a crashed run has a report too.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from pydantic import BaseModel, TypeAdapter, ValidationError

from spca.events import Event
from spca.kits import kit_of
from spca.report.timeline import ContactInterval, contact_timeline, stage_timeline, step_timeline, ticks
from spca_core.errors import InputError
from spca_core.observation import Observation
from spca_core.options import Manifest
from spca_core.plan import ActResult, CodeResult, PlanResult
from spca_core.rehearsal import Rehearsed
from spca_core.result import RunResult
from spca_core.run_folder import EVENTS, MANIFEST, RunFolder
from spca_core.scene import SceneObject

REPORT = "report.html"
# Files next to the report that it links to, each with a description.
_FILES = (
    ("video.mp4", "video"),
    ("run.mcap", "log for Foxglove or rosbag2"),
    ("result.json", "result"),
    (MANIFEST, "options and versions"),
    (EVENTS, "events"),
    ("library.py", "skills"),
    ("log/spca.log", "messages"),
)


class _Exchange(BaseModel):
    """What the page tells of an exchange with a language model."""

    request: dict[str, Any]
    answer: dict[str, Any] | None = None


class _Look(BaseModel):
    """What stands beside a look's picture, or a disturbance's."""

    stamp: float = 0.0
    text: str = ""
    sentences: list[str] = []


def write_report(folder: RunFolder) -> Path:
    """Render `report.html` in the run's folder; returns its path."""
    path = folder.path
    manifest = _load(path / MANIFEST, Manifest)
    result = _load(path / "result.json", RunResult)
    events = list(folder.lines(Event, EVENTS))
    acts = [a for f in _numbered(path, "act_*.json") if (a := _load(f, ActResult))]
    plans = [p for f in _numbered(path, "plan_*.json") if (p := _load(f, PlanResult))]
    codes = [c for f in _numbered(path, "code_*.json") if (c := _load(f, CodeResult))]
    rehearsals = [r for f in _numbered(path, "rehearsal_*.json") if (r := _rehearsal(f))]
    steps = [step for act in acts for step in act.steps]
    begun = next((e for e in events if e.kind == "run_started"), None)
    end = result.sim if result else max([s.ended for s in steps], default=1.0)
    page = (
        templates()
        .get_template("report.html.j2")
        .render(
            name=path.name,
            manifest=manifest,
            title=begun.text if begun else path.name,
            task=begun.data.get("task", "") if begun else "",
            unit=_time_unit(manifest),
            models=_models(path),
            result=result,
            events=events,
            stages=stage_timeline(result.stage_wall) if result else [],
            plans=plans,
            codes=[c for c in codes if c.drafts],
            rehearsals=rehearsals,
            obstacles=obstacles(path),
            looks=[_look(f) for f in sorted((path / "looks").glob("*.jpg"))],
            disturbances=[_look(f) for f in _in_order((path / "disturbances").glob("*.jpg"))],
            animation=_data_uri(path / "animation.webp", "image/webp"),
            ticks=ticks(end),
            steps=step_timeline(steps, end),
            contacts=contact_timeline(_load(path / "contacts.json", list[ContactInterval]) or [], end),
            video=(path / "video.mp4").is_file(),
            files=[(f, what, _size(path / f)) for f, what in _FILES if (path / f).is_file()],
            crash=_text(path / "crash.txt"),
        )
    )
    folder.write(REPORT, page)
    return path / REPORT


@cache
def templates() -> Environment:
    """The project's pages."""
    loader = PackageLoader("spca.report")
    return Environment(
        loader=loader, autoescape=select_autoescape(default=True), trim_blocks=True, lstrip_blocks=True
    )


def _time_unit(manifest: Manifest | None) -> str:
    """What the environment's time is counted in; seconds where it is not installed any more."""
    try:
        return kit_of(manifest.options.level).time_unit if manifest else "s"
    except InputError:
        return "s"


def _models(path: Path) -> dict[str, str]:
    """The language models that answered, by role."""
    asked = [e for f in sorted((path / "llm").glob("*.json")) if (e := _load(f, _Exchange))]
    return {str(e.request.get("role", "")): str(e.answer.get("model", "")) for e in asked if e.answer}


def _numbered(path: Path, pattern: str) -> list[Path]:
    """The files of all rounds in the order in which they were written.

    For example, `round_2/plan_7.json` comes after `round_1/plan_2.json`.
    """
    return sorted(path.glob(f"round_*/{pattern}"), key=lambda f: int(f.stem.split("_")[-1]))


def _in_order(files: Iterable[Path]) -> list[Path]:
    """Files that are named `1_push.jpg`, `2_hand.jpg` and so on."""
    return sorted(files, key=lambda f: int(f.name.split("_")[0]))


def _load(path: Path, kind: Any) -> Any:
    """A file's content as a model or a type of pydantic's; None if it is missing or damaged."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _rehearsal(path: Path) -> dict[str, Any] | None:
    """A rehearsal, with what shows its failing try."""
    found = _load(path, Rehearsed)
    shown = path.with_name(path.stem.replace("rehearsal", "try"))
    video, drawn = shown.with_suffix(".mp4"), shown.with_suffix(".map.txt")
    link = f"{path.parent.name}/{video.name}" if video.is_file() else ""
    return {"record": found, "video": link, "map": _text(drawn)} if found else None


def obstacles(path: Path) -> list[str]:
    """What was seen on the table that is none of the known kinds, at the last look that showed any."""
    found: list[str] = []
    for file in sorted(path.glob("round_*/observation.json"), key=lambda f: int(f.parent.name[6:])):
        seen = _load(file, Observation)
        things = seen.things if seen else ()
        found = [_obstacle(t) for t in things if t.kind == "unknown"] or found
    return found


def _obstacle(thing: SceneObject) -> str:
    (x, y, _), size = thing.pose.position, " × ".join(f"{s * 100:.1f}" for s in thing.size)
    return f"{size} cm at ({x:.2f}, {y:.2f}) m"


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size // 1000, 1)} kB"


def _look(path: Path) -> dict[str, Any]:
    scene = _load(path.with_suffix(".json"), _Look) or _Look()
    return {
        "image": _data_uri(path, "image/jpeg"),
        "file": f"{path.parent.name}/{path.name}",
        "stamp": scene.stamp,
        "text": scene.text or " ".join(scene.sentences),
    }


def _data_uri(path: Path, kind: str) -> str:
    if not path.is_file():
        return ""
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
