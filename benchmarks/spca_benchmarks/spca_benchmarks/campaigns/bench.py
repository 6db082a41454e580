"""The interface of a benchmark; the engine does the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import Field

from spca_benchmarks.campaigns.page import Page, PageTable
from spca_core.model import Record


class Trial(Protocol):
    """The unit of work: whatever is run, counted and repeated as one. Must be picklable."""

    @property
    def key(self) -> str:
        """The trial's name within the bench; the same for the same trial in every session."""


TrialT = TypeVar("TrialT", bound=Trial)
ResultT = TypeVar("ResultT", bound=Record)


@dataclass(frozen=True)
class Done(Generic[TrialT, ResultT]):
    """A trial with its result."""

    trial: TrialT
    result: ResultT


class Bench(Record, Generic[TrialT, ResultT]):
    """Settings of one benchmark, as a record that can be sent to a worker.

    A new benchmark is a subclass: its fields are its settings, and with `name` and `result_type` it says what
    it is called and how a line of its results is read.
    """

    name: ClassVar[str]
    result_type: ClassVar[type[Record]]
    compares: ClassVar[bool] = False
    """The trials are of contestants, so that a sum over all of them means nothing."""
    not_identity: ClassVar[frozenset[str]] = frozenset({"usd"})
    """Settings that may change when a campaign is resumed: limits, but nothing that a result depends on."""

    usd: float | None = Field(None, gt=0)
    """Limit of the campaign's cost in US dollars, broken trials included, for trials that cost money."""

    # --- what is run ----------------------------------------------------------------------------------------

    def identity(self) -> Mapping[str, Any]:
        """Return what a result depends on, as plain JSON; a folder holds the results of one identity only."""
        return self.model_dump(mode="json", exclude=set(self.not_identity))

    def prepare(self, folder: Path) -> None:
        """Check, before anything is written, that the trials can be run. Raises InputError."""

    @abstractmethod
    def trials(self) -> Sequence[TrialT]:
        """Return every trial, in the order in which they are begun."""

    @abstractmethod
    def run_trial(self, trial: TrialT, folder: Path) -> ResultT:
        """Run one trial, in a worker process; `folder` is the campaign's.

        A trial that fails is a result. What raises is a *broken* trial: it is counted apart, and run again
        when the campaign is resumed. BudgetExhausted ends the campaign early.
        """

    def chain_of(self, trial: TrialT) -> str:
        """Return the trial's chain: trials of one chain run one after the other, in order.

        A broken trial blocks those behind it.
        """
        return trial.key

    @property
    def parallel(self) -> bool:
        """Trials may run next to each other; if not, this process runs them one by one."""
        return True

    def cost(self, result: ResultT) -> float:
        """Return the cost of a trial, in US dollars."""
        return 0.0

    def cost_of_broken(self, trial: TrialT, folder: Path) -> float:
        """Return the cost of a trial that broke or was killed, in US dollars.

        It moves its records of that aside, so that they are counted once only.
        """
        return 0.0

    def why_stop(self, done: Sequence[Done[TrialT, ResultT]], wasted: Mapping[str, float]) -> str:
        """Explain why no further trial may begin; empty if one may. By default, the price limit.

        `wasted` is what broken trials have cost, in US dollars, by the trials' keys.
        """
        spent = sum(self.cost(d.result) for d in done) + sum(wasted.values())
        if self.usd is not None and spent >= self.usd:
            return f"{self.usd:g} US dollars are used up ({spent:.4f} so far)"
        return ""

    # --- what is shown --------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The heading of the page."""
        return self.name

    def success(self, result: ResultT) -> bool | None:
        """Return whether a trial succeeded, where that can be said: campaigns are compared by it."""
        return None

    def fingerprint(self, result: ResultT) -> str:
        """Return a key that is equal for results that repeat each other exactly.

        It is empty where repetition is not defined.
        """
        return ""

    def remark(self, done: Done[TrialT, ResultT]) -> str:
        """Return a line for the terminal once the trial has ended; empty for nothing worth saying."""
        return ""

    @abstractmethod
    def table(self, done: Sequence[Done[TrialT, ResultT]]) -> PageTable:
        """Return the figures by groups: the table in the terminal and at the top of the page."""

    def report(self, done: Sequence[Done[TrialT, ResultT]], page: Page) -> None:
        """Add the bench's own tables, plots and published figures to the page."""

    def rows(self, done: Done[TrialT, ResultT]) -> Iterable[Mapping[str, Any]]:
        """Yield a trial as rows of the exported table; the export flattens nested values to `name.key`."""
        trial: dict[str, Any] = done.trial.model_dump(mode="json") if isinstance(done.trial, Record) else {}
        yield {"trial": done.trial.key, **trial, **done.result.model_dump(mode="json")}
