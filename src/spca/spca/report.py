"""Gathers a run folder's files and renders the page.

Missing parts are left out: a crashed run has a report too.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import cv2
from jinja2 import Environment, PackageLoader
from numpy.typing import NDArray
from pydantic import BaseModel, TypeAdapter, ValidationError

from spca.journal import Event
from spca.kits import kit_of
from spca_core.errors import InputError
from spca_core.names import symbol_of, words_of
from spca_core.options import Manifest
from spca_core.plan import ActResult, CodeResult, PlanResult, Rehearsed, behaviour_tree
from spca_core.result import SIGNALS, RunResult, Signals
from spca_core.run_folder import EVENTS, MANIFEST, RunFolder, read_picture
from spca_core.scene import Observation
from spca_core.skill import StepReport
from spca_core.validation import YAML_FILES, plain
from spca_referee.referee import ContactInterval

REPORT = "report.html"
_LOOK_WIDTH = 800  # px
_MOST_IN_PAGE = 16_000_000  # bytes of a video
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


class _Look(BaseModel):
    """Data beside a look's picture, or a disturbance's."""

    stamp: float = 0.0
    text: str = ""
    sentences: list[str] = []


class _Frames(BaseModel):
    """When each picture of a video was, in the run's time."""

    fps: float
    stamps: tuple[float, ...]


def write_report(folder: RunFolder) -> Path:
    """Render `report.html` in the run's folder; return its path."""
    path = folder.path
    manifest = load(path / MANIFEST, Manifest)
    result = load(path / "result.json", RunResult)
    events = list(folder.read_log(Event, EVENTS))
    plans = _numbered(folder, "plan", PlanResult)
    codes = [c for _, c in _numbered(folder, "code", CodeResult) if c.drafts]
    rehearsals = [r for f in folder.files("rehearsal") if (r := _rehearsal(f))]
    trees, steps = executed(plans, _numbered(folder, "act", ActResult))
    unit = _time_unit(manifest)
    begun = next((e for e in events if e.kind == "run_started"), None)
    title = begun.text if begun else path.name
    looked = begun is not None and begun.data.get("judge") == "look"
    level = manifest.options.level if manifest else ""
    looks = [_look(f) for f in sorted((path / "looks").glob("*.jpg"))]
    video = path / "video.mp4"  # in the page, so that it can be given away, unless it is large
    large = video.is_file() and video.stat().st_size > _MOST_IN_PAGE
    disturbances = sorted((path / "disturbances").glob("*.jpg"), key=lambda f: (f.name.find("_"), f.name))
    template = templates().get_template("report.html.j2")
    page = template.render(
        name=path.name,
        manifest=manifest,
        heading=title if looked or not level or level.endswith(YAML_FILES) else level,
        title=title,
        task=begun.data.get("task", "") if begun else "",
        looked=looked,
        looks=looks,
        unit=unit,
        models=_models(path / "llm") if (path / "llm").is_dir() else {},
        result=result,
        events=events,
        plans=[p for _, p in plans],
        trees=trees,
        codes=codes,
        rehearsals=rehearsals,
        obstacles=obstacles(path),
        disturbances=[_look(f) for f in disturbances],
        animation=_data_uri(path / "animation.webp", "image/webp"),
        video=video.name if large else _data_uri(video, "video/mp4"),
        data={
            "unit": unit,
            "end": result.verdict.stamp if result else max([s["ended"] for s in steps], default=1.0),
            "steps": steps,
            "looks": [{"stamp": look["stamp"], "text": look["text"]} for look in looks],
            "frames": _plain(load(path / "video.json", _Frames)),
            "signals": _plain(load(path / SIGNALS, Signals)),
            "contacts": contacts(load(path / "contacts.json", list[ContactInterval]) or []),
        },
        files=[(f, what, _size(path / f)) for f, what in _FILES if (path / f).is_file()],
        crash=_text(path / "crash.txt"),
    )
    folder.write(REPORT, page)
    return path / REPORT


def executed(
    plans: Sequence[tuple[int, PlanResult]], acts: Sequence[tuple[int, ActResult]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the plans as trees, one for each time that one was carried out, and all steps in their order.

    A tree's node has the number of its step in the second list, or None where it was not reached. Both
    arguments are numbered in the order in which they were written.
    """
    trees: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    for number, result in plans:
        if (plan := result.plan) is None:
            continue
        following = next((n for n, p in plans if n > number and p.plan), math.inf)
        ports = {schema.name: [name for name, _ in schema.parameters] for schema in plan.schemas}
        tries: list[ActResult | None] = [a for n, a in acts if number < n < following]
        for act in tries or [None]:
            reports = act.steps if act else ()
            nodes = [
                {"text": str(r), "step": i, "status": r.status} for i, r in enumerate(reports, len(steps))
            ]
            nodes += [{"text": str(s), "step": None, "status": "ahead"} for s in plan.steps[len(nodes) :]]
            trees.append(
                {
                    "nodes": nodes,
                    "xml": behaviour_tree(plan.steps, ports),
                    "status": act.status if act else "not tried",
                }
            )
            steps += [_step(r) for r in reports]
    return trees, steps


def _step(report: StepReport) -> dict[str, Any]:
    failure = report.failure if report.status == "failed" else None
    return {
        "text": str(report),
        "status": report.status,
        "started": report.started,
        "ended": report.ended,
        "failure": f"{failure.kind}: {failure.message}" if failure else "",
        "log": "\n".join(report.log),
    }


def contacts(intervals: Sequence[ContactInterval]) -> list[dict[str, Any]]:
    """Return a row for each pair of models, in plain words, with the times of contact; by first contact."""
    rows: dict[str, list[tuple[float, float]]] = {}
    for interval in intervals:
        pair = " – ".join(words_of(symbol_of(m)) for m in interval.pair)
        rows.setdefault(pair, []).append((interval.start, interval.end))
    return [{"text": text, "spans": spans} for text, spans in rows.items()]


@cache
def templates() -> Environment:
    """Return the environment of the project's page templates."""
    made = Environment(loader=PackageLoader("spca"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.policies["json.dumps_kwargs"] = {}  # in the order of the records
    return made


def _time_unit(manifest: Manifest | None) -> str:
    """Return the unit of the environment's time; seconds where it is not installed any more."""
    try:
        return kit_of(manifest.options.level).time_unit if manifest else "s"
    except InputError:
        return "s"


def _numbered(folder: RunFolder, stage: str, kind: Any) -> list[tuple[int, Any]]:
    """Return a stage's records of all rounds with their numbers; what is damaged is left out."""
    found = ((int(f.stem.rpartition("_")[2]), load(f, kind)) for f in folder.files(stage))
    return [(number, record) for number, record in found if record]


def load(path: Path, kind: Any) -> Any:
    """Return a file's content as a pydantic model or type; None if it is missing or damaged."""
    try:
        return TypeAdapter(kind).validate_json(plain(path).read_bytes())
    except (OSError, ValidationError):
        return None


def _plain(record: BaseModel | None) -> Any:
    return record.model_dump() if record else None


def _models(folder: Path) -> dict[str, str]:
    """Return which model has answered in each role."""
    from spca_llm.exchange import Exchange  # most runs have asked none

    found = [load(file, Exchange) for file in sorted(folder.glob("*.json"))]
    return {one.request.role: one.answer.model for one in found if one and one.answer}


def _rehearsal(path: Path) -> dict[str, Any] | None:
    """Return a rehearsal with the video and map of its failing try; None if missing or damaged."""
    found = load(path, Rehearsed)
    shown = path.with_name(path.stem.replace("rehearsal", "try"))
    video, drawn = shown.with_suffix(".mp4"), shown.with_suffix(".map.txt")
    link = f"{path.parent.name}/{video.name}" if video.is_file() else ""
    return {"record": found, "video": link, "map": _text(drawn)} if found else None


def obstacles(path: Path) -> list[str]:
    """List things on the table that are none of the known kinds, at the last look that showed any."""
    found: list[str] = []
    for file in RunFolder(path).looks:
        seen = load(file, Observation)
        things = seen.things if seen else ()
        found = [
            "{:.1f} × {:.1f} × {:.1f} cm".format(*(100 * edge for edge in thing.size))
            + " at ({:.2f}, {:.2f}) m".format(*thing.pose.position)
            for thing in things
            if thing.kind == "unknown"
        ] or found
    return found


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size // 1000, 1)} kB"


def _look(path: Path) -> dict[str, Any]:
    scene = load(path.with_suffix(".json"), _Look) or _Look()
    return {
        "image": picture(path, _LOOK_WIDTH),
        "file": f"{path.parent.name}/{path.name}",
        "stamp": scene.stamp,
        "text": scene.text or " ".join(scene.sentences),
    }


def picture(path: Path, width: int) -> str:
    """Return a picture as a JPEG data URI, at most `width` pixels wide; empty where there is none."""
    return "" if (image := read_picture(path)) is None else small_picture(image[..., ::-1], width)


def small_picture(image: NDArray[Any] | None, width: int) -> str:
    """Return an RGB image (height, width, 3) as `picture` does; empty for None."""
    if image is None:
        return ""
    if (scale := width / image.shape[1]) < 1:
        size = (width, max(1, round(scale * image.shape[0])))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    jpeg = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 82])[1]
    return "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode()


def _data_uri(path: Path, kind: str) -> str:
    if not path.is_file():
        return ""
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
