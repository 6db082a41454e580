"""Disturbances of a run, and the remedies that were used, read from the run's folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from spca_benchmarks.campaigns.page import PageTable
from spca_benchmarks.campaigns.statistics import Rate
from spca_core.log import LOG
from spca_core.plan import ActResult
from spca_core.run_folder import EVENTS
from spca_core.scene import OBSTRUCTED
from spca_sim.recording import DISTURBANCES
from spca_sim.variation import ABOUT, Happened

if TYPE_CHECKING:
    from spca_benchmarks.runs import RunSummary

_AT_ONCE = 0.25
"""Longest time between two pictures, in simulated seconds, at which the second is a repetition."""
REMEDIES = ("grasp again", "wait and look again", "plan again", "allow for the camera")


def disturbances_in(run: Path, until: float) -> tuple[str, ...]:
    """Return the kinds of disturbances in a run in the order in which they first happened, each once.

    What happens after `until`, the time of the verdict in simulated seconds, is nothing to cope with.
    """
    files = sorted((run / DISTURBANCES).glob("*.json"), key=lambda f: int(f.name.split("_")[0]))
    happened = [Happened.model_validate_json(f.read_text()) for f in files]
    return tuple(dict.fromkeys(h.kind for h in happened if h.stamp <= until))


def remedies_in(run: Path, acts: Sequence[ActResult]) -> dict[str, int]:
    """Count how often each of `REMEDIES` was used in a run; unused ones are left out."""
    used: Counter[str] = Counter()
    used["grasp again"] = sum("again" in line for line in _said_by_skills(run))
    used["plan again"] = len(acts) - 1 if acts else 0
    looks = [json.loads(f.read_text()) for f in sorted((run / "looks").glob("*.json"))]
    stamps = [look.get("stamp", 0.0) for look in looks]
    used["wait and look again"] = sum(OBSTRUCTED in look.get("notes", ()) for look in looks)
    used["wait and look again"] += sum(b - a < _AT_ONCE for a, b in pairwise(stamps))
    events = run / EVENTS
    if events.is_file():
        used["wait and look again"] += events.read_text().count('"kind":"doubt"')
    used["allow for the camera"] = sum(
        "camera has been moved" in note for look in looks for note in look.get("notes", ())
    )
    return {remedy: count for remedy, count in used.items() if count > 0}


def _said_by_skills(run: Path) -> list[str]:
    """Return what skills wrote into the run's record, for example that they try again."""
    if not (path := run / LOG).is_file():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    return [line.get("message", "") for line in lines if line.get("event") == "skill"]


def remedy_table(results: Iterable[RunSummary]) -> PageTable:
    """Tabulate for each kind of disturbance how many runs met it, were solved, and used each remedy.

    A run with several disturbances counts for each of them.
    """
    runs = list(results)
    rows = []
    for kind, about in ABOUT.items():
        own = [r for r in runs if kind in r.disturbed]
        if own:
            used = [sum(remedy in r.remedies for r in own) for remedy in REMEDIES]
            rows.append((kind, about, str(Rate.of(r.success for r in own)), *used))
    undisturbed = [r for r in runs if not r.disturbed]
    if undisturbed:
        used = [sum(remedy in r.remedies for r in undisturbed) for remedy in REMEDIES]
        rows.append(("none", "nothing happened in time", str(Rate.of(r.success for r in undisturbed)), *used))
    return PageTable(("kind", "what happens", "solved", *REMEDIES), rows)
