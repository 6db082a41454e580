"""Benches whose trials are whole runs of levels: what a run comes to, and how it is shown."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from spca.pages import Card
from spca.runs import Run
from spca_benchmarks.campaigns.bench import Bench, Done, TrialT
from spca_benchmarks.remedies import disturbances_in, remedies_in
from spca_core.errors import Lost
from spca_core.model import Record
from spca_core.options import Manifest, RunOptions
from spca_core.plan import ActResult
from spca_core.result import UNFINISHED, Ending, RunResult
from spca_core.run_folder import MANIFEST, RunFolder

STAGES = ("sense", "plan", "code", "act")


class RunSummary(RunResult):
    """The result of a run, as the line of a campaign."""

    digest: str = ""
    """Hash over verdict, steps and simulated times: equal for a bit-for-bit repetition."""
    run: str = ""
    """The run's folder within the campaign's, where it was kept."""
    thumbnail: str = ""
    """The last camera image, as a small JPEG in a data URI."""
    disturbed: tuple[str, ...] = ()
    """Kinds of disturbances that happened."""
    remedies: dict[str, int] = {}
    """Number of times that each remedy against a deviation was used."""

    @property
    def cause(self) -> str:
        """The reason why the level was not solved, in one line; empty for a success."""
        return "" if self.success else self.reason

    def row(self) -> dict[str, Any]:
        """Return a row for an exported table, without the picture, and of the verdict the score only."""
        values = self.model_dump(mode="json", exclude={"level", "thumbnail", "verdict", "reason"})
        return {**values, "score": self.verdict.score, "cause": self.cause}


def run_level(options: RunOptions, campaign: Path, name: str) -> tuple[RunSummary, RunFolder]:
    """Run a level in `campaign`/runs/`name`. The caller ends with `keep_failed`, or deletes the folder.

    Raises what the run raises, and KeyboardInterrupt if the user stopped it.
    """
    path = campaign / "runs" / name
    shutil.rmtree(path, ignore_errors=True)
    folder = RunFolder.create(name, path)
    result = Run(options, folder).advance()
    if result.outcome in UNFINISHED:
        raise KeyboardInterrupt if result.outcome is Ending.CANCELLED else Lost(result.reason)
    carried_out = folder.read_stage("act", ActResult)
    return RunSummary(
        **dict(result),
        digest=_digest(result, carried_out),
        disturbed=disturbances_in(path, result.verdict.stamp),
        remedies=remedies_in(path, carried_out),
        run="" if result.success else str(path.relative_to(campaign)),
        thumbnail=_thumbnail(path),
    ), folder


def keep_failed(summary: RunSummary, folder: RunFolder) -> None:
    """Delete the folder of a success; write the report of a failure."""
    if summary.success:
        shutil.rmtree(folder.path, ignore_errors=True)
    else:
        Run(folder.read(MANIFEST, Manifest).options, folder).document()


def _digest(result: RunResult, acts: list[ActResult]) -> str:
    """Return a hash of everything that must repeat exactly: the verdict and each step's simulated times.

    Wall times are left out.
    """
    steps = [[s.action, s.args, s.status, s.started, s.ended] for act in acts for s in act.steps]
    content = json.dumps([result.verdict.model_dump(mode="json"), steps], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _thumbnail(path: Path) -> str:
    from spca.report import picture

    looks = sorted((path / "looks").glob("*.jpg"))
    return picture(looks[-1], 160) if looks else ""


RunT = TypeVar("RunT", bound=RunSummary)


class RunsBench(Bench[TrialT, RunT]):
    """A bench whose results are runs."""

    def success(self, result: RunT) -> bool:
        """See `Bench`."""
        return result.success

    def fingerprint(self, result: RunT) -> str:
        """See `Bench`."""
        return result.digest

    def remark(self, done: Done[TrialT, RunT]) -> str:
        """See `Bench`."""
        return "" if done.result.success else f"{done.result.outcome.value}: {done.result.cause[:160]}"

    def rows(self, done: Done[TrialT, RunT]) -> Iterable[Mapping[str, Any]]:
        """See `Bench`; one row a run."""
        trial: dict[str, Any] = done.trial.model_dump(mode="json") if isinstance(done.trial, Record) else {}
        yield {"trial": done.trial.key, **trial, **done.result.row()}


def run_cards(runs: Iterable[tuple[str, RunSummary]]) -> list[Card]:
    """Return cards for a page of runs by name, those that failed first, with links to their reports."""
    cards = [
        Card(
            name,
            ": ".join(filter(None, (r.outcome.words, r.cause))),
            f"{r.run}/report.html" if r.run else "",
            r.thumbnail,
            r.success,
        )
        for name, r in runs
    ]
    return sorted(cards, key=lambda card: bool(card.good))
