"""A campaign's results on disk: one JSON line a trial, appended as each ends."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from spca.campaign.spec import Trial
from spca.result import CoderCounts, PlannerCounts, Usage
from spca_core.model import Record

RESULTS = "results.jsonl"


class TrialResult(Record):
    """What a trial came to; `cause` is one line, `thumbnail` a small JPEG as a data URI for failed ones."""

    trial: Trial
    outcome: str
    score: float
    cause: str
    wall: float
    sim: float
    rounds: int
    steps: int
    stage_wall: dict[str, float]
    planner: PlannerCounts = PlannerCounts()
    coder: CoderCounts = CoderCounts()
    usage: dict[str, Usage] = {}
    digest: str = ""
    """Hash over verdict, steps and simulated times: equal for a bit-for-bit repetition."""
    run: str = ""
    thumbnail: str = ""

    @property
    def success(self) -> bool:
        """Whether the referee said so."""
        return self.outcome == "success"


def append_result(folder: Path, result: TrialResult) -> None:
    """Add a line; it is on disk when this returns. After a torn last line a new one is begun."""
    path = folder / RESULTS
    torn = path.is_file() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("a") as stream:
        stream.write(("\n" if torn else "") + result.model_dump_json() + "\n")
        stream.flush()


def read_results(folder: Path) -> tuple[list[TrialResult], list[str]]:
    """All results, the newest for each trial, and a complaint for every line that cannot be read."""
    found: dict[str, TrialResult] = {}
    complaints = []
    path = folder / RESULTS
    for number, line in enumerate(path.read_text(errors="replace").splitlines() if path.is_file() else (), 1):
        if not line.strip():
            continue
        try:
            result = TrialResult.model_validate_json(line)
        except ValidationError:
            complaints.append(f"{path}:{number}: not a result, passed over; its trial is run again")
            continue
        found[result.trial.key] = result
    return list(found.values()), complaints
