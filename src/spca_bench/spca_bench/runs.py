"""Benches whose trials are runs of levels: what a run comes to, and how it is shown.

The supervisor that carries out a run belongs to a package above this one, which declares it at the extension
point `spca.level_runners`; an environment's own bench reaches it by `level_runs()`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from spca_bench.bench import Bench, Done, TrialT
from spca_bench.page import Card
from spca_core.extensions import find
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder

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
    """The kinds of disturbances that happened."""
    remedies: dict[str, int] = {}
    """How often each remedy against a deviation was used."""

    @property
    def cause(self) -> str:
        """Reason why it was not solved, in one line; empty for a success."""
        return "" if self.success else self.reason

    def row(self) -> dict[str, Any]:
        """For an exported table: without the picture, and of the verdict the score only."""
        values = self.model_dump(mode="json", exclude={"level", "thumbnail", "verdict", "reason"})
        return {**values, "score": self.verdict.score, "cause": self.cause}


class LevelRuns(Protocol):
    """Runs levels for a campaign."""

    def run(self, options: RunOptions, campaign: Path, name: str) -> tuple[RunSummary, RunFolder]:
        """Run a level in `campaign`/runs/`name`. The caller ends with `keep_failed`, or deletes the folder.

        Raises what the run raises, and KeyboardInterrupt if the user stopped it.
        """
        ...

    def keep_failed(self, summary: RunSummary, folder: RunFolder) -> None:
        """Delete the folder of a success; write the report of a failure."""
        ...


def level_runs() -> LevelRuns:
    """The installed supervisor."""
    runs: LevelRuns = find("spca.level_runners", "supervisor").load()()
    return runs


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
    """Runs by name for a page, those that failed first, with links to their reports."""
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
