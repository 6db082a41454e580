"""For tests: a bench with scripted trials."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import PageTable
from spca_benchmarks.campaigns.statistics import Rate
from spca_benchmarks.runs import RunSummary
from spca_core.errors import BudgetExhausted
from spca_core.model import Record
from spca_core.result import CoderCounts, Ending, Outcome, PlannerCounts, Verdict


def run_summary(outcome: str = "success", reason: str = "") -> RunSummary:
    """A run that took a second of wall time, nine of simulated time, a round and two steps."""
    verdict = Verdict(outcome=Outcome.RUNNING, score=1.0, stamp=9.0, reason=reason)
    return RunSummary(
        level="", outcome=Ending(outcome), verdict=verdict, reason=reason, rounds=1, steps=2,
        wall=1.0, sim=9.0, planner=PlannerCounts(), coder=CoderCounts(), stage_wall={},
    )  # fmt: skip


class ToyTrial(Record):
    """A number and the chain that it belongs to."""

    number: int
    chain: str

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.chain}/{self.number}"


class ToyResult(Record):
    """Result of a trial: whether it was solved, and how many trials of its chain were done before."""

    solved: bool
    before: int = 0


class ToyBench(Bench[ToyTrial, ToyResult]):
    """`chains` × `length` trials. Each appends a line to `log` in the campaign's folder.

    Trials named in `fails` are not solved; those in `breaks` raise while the folder holds a file `broken`;
    those in `dies` kill their own worker, once; `costs` are used up by that trial.
    """

    name = "toy"
    result_type: ClassVar[type[Record]] = ToyResult
    not_identity = frozenset({"usd", "breaks", "dies", "seconds", "limit", "costs"})

    chains: tuple[str, ...] = ("a",)
    length: int = 3
    chained: bool = False
    fails: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    dies: tuple[str, ...] = ()
    costs: str = ""
    seconds: float = 0.0
    limit: int | None = None

    def trials(self) -> list[ToyTrial]:
        """Chain by chain."""
        return [ToyTrial(number=n, chain=c) for c in self.chains for n in range(self.length)]

    def chain_of(self, trial: ToyTrial) -> str:
        """See `Bench`."""
        return trial.chain if self.chained else trial.key

    def run_trial(self, trial: ToyTrial, folder: Path) -> ToyResult:
        """See the class."""
        time.sleep(self.seconds)
        if trial.key in self.breaks and (folder / "broken").exists():
            (folder / f"bill_{trial.key.replace('/', '_')}").touch()
            raise RuntimeError("the server is gone")
        mark = folder / f"died_{trial.key.replace('/', '_')}"
        if trial.key in self.dies and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if trial.key == self.costs:
            raise BudgetExhausted("3 US dollars are used up")
        with (folder / "log").open("a+") as log:
            log.seek(0)
            before = sum(line.startswith(trial.chain) for line in log)
            log.write(f"{trial.key}\n")
        return ToyResult(solved=trial.key not in self.fails, before=before)

    def cost_of_broken(self, trial: ToyTrial, folder: Path) -> float:
        """A dollar for each trial that broke, once."""
        bill = folder / f"bill_{trial.key.replace('/', '_')}"
        owed = bill.exists()
        bill.unlink(missing_ok=True)
        return float(owed)

    def why_stop(self, done: Sequence[Done[ToyTrial, ToyResult]], wasted: Mapping[str, float]) -> str:
        """See `Bench`."""
        if self.limit is not None and len(done) >= self.limit:
            return f"{self.limit} trials are enough"
        return super().why_stop(done, wasted)

    def success(self, result: ToyResult) -> bool:
        """See `Bench`."""
        return result.solved

    def remark(self, done: Done[ToyTrial, ToyResult]) -> str:
        """See `Bench`."""
        return "" if done.result.solved else "not solved"

    def table(self, done: Sequence[Done[ToyTrial, ToyResult]]) -> PageTable:
        """One row."""
        rate = Rate.of(d.result.solved for d in done)
        return PageTable(("solved", "95 % interval"), [(rate, rate.percent_interval)])
