"""Runs the trials of a bench that have no result yet, in this process or on a dask cluster."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from spca_benchmarks.campaigns.bench import Bench, ResultT, TrialT
from spca_benchmarks.campaigns.campaign import (
    ResultLine,
    StoredCampaign,
    append,
    claimed,
    read_campaign,
    read_head,
)
from spca_core.errors import BudgetExhausted, InputError, SpcaError, one_line
from spca_core.options import software

if TYPE_CHECKING:
    from dask.distributed import Client

# After so many broken trials in a row something is wrong that the next one will not survive either.
BROKEN_IN_A_ROW = 10
_LONGEST_CAUSE = 300

OnEntry = Callable[[StoredCampaign[Any, Any], ResultLine], None]


def run_campaign(
    bench: Bench[TrialT, ResultT],
    folder: Path,
    workers: int | None = None,
    scheduler: str = "",
    on_entry: OnEntry = lambda campaign, entry: None,
) -> StoredCampaign[TrialT, ResultT]:
    """Run every trial that the folder has no result of, broken ones included; return all that it holds then.

    `workers` is the number of processes (the cores by default); a single worker is this process itself.
    `scheduler` is the address of an outside dask scheduler whose workers see `folder` at the same path.
    `on_entry` is called after each trial. Raises InputError for a folder of another campaign, and what
    `Bench.prepare` raises.
    """
    folder = folder.resolve()
    bench.prepare(folder)
    with claimed(folder, bench):
        campaign = read_campaign(bench, folder)
        begun, now = read_head(folder).software.git_revision, software().git_revision
        queue = _Queue(campaign)
        for trial in queue.waiting():
            if usd := bench.cost_of_broken(trial, folder):  # it was under way when an earlier session died
                entry = ResultLine(trial=trial.key, seconds=0.0, broken="interrupted", usd=usd)
                append(folder, entry)
                campaign.add(entry)
        campaign.broken.clear()  # they are run again
        if why := bench.why_stop(campaign.done, campaign.wasted):
            campaign.stopped = why
            queue.close()
        workers = min(workers or os.cpu_count() or 1, max(1, len(queue))) if bench.parallel else 1
        if workers == 1 and not scheduler:
            ended = _in_this_process(bench, folder, queue)
        else:
            ended = _on_cluster(bench, folder, queue, workers, scheduler)
        in_a_row = 0
        for ended_now in ended:
            entry = ended_now.model_copy(update={"revision": now if now != begun else ""})
            if not entry.stop:
                append(folder, entry)
                campaign.add(entry)
                on_entry(campaign, entry)
            in_a_row = in_a_row + 1 if entry.broken else 0
            why = entry.stop or bench.why_stop(campaign.done, campaign.wasted)
            if in_a_row >= BROKEN_IN_A_ROW:
                why = f"{in_a_row} broken trials in a row, the last one: {entry.broken}"
            if why:
                campaign.stopped = why
                queue.close()
        return campaign


class _Queue(Generic[TrialT, ResultT]):
    """The trials to be run. Of a chain, one at a time; a broken trial holds up the rest of its chain."""

    def __init__(self, campaign: StoredCampaign[TrialT, ResultT]) -> None:
        self._chain_of = campaign.bench.chain_of
        self._waiting = [t for t in campaign.trials if t.key not in campaign.results]
        self._busy: set[str] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    def waiting(self) -> list[TrialT]:
        """Return the trials that have not been taken."""
        return list(self._waiting)

    def take(self) -> TrialT | None:
        """Take the next trial that may begin now; return None if there is none."""
        for place, trial in enumerate(self._waiting):
            if self._chain_of(trial) not in self._busy:
                self._busy.add(self._chain_of(trial))
                return self._waiting.pop(place)
        return None

    def ended(self, trial: TrialT, entry: ResultLine) -> None:
        """Let the chain of a trial that was taken go on, if the trial has ended with a result."""
        if entry.result is not None:
            self._busy.discard(self._chain_of(trial))

    def close(self) -> None:
        """Let no further trial begin."""
        self._waiting.clear()


def _in_this_process(
    bench: Bench[TrialT, ResultT], folder: Path, queue: _Queue[TrialT, ResultT]
) -> Iterator[ResultLine]:
    while (trial := queue.take()) is not None:
        entry = run_one(bench, trial, str(folder))
        queue.ended(trial, entry)
        yield entry


def _on_cluster(
    bench: Bench[TrialT, ResultT], folder: Path, queue: _Queue[TrialT, ResultT], workers: int, scheduler: str
) -> Iterator[ResultLine]:
    from dask.distributed import as_completed

    with open_cluster(workers, scheduler) as client:
        running: dict[Any, TrialT] = {}
        completed = as_completed()

        def fill() -> None:
            # One more than there are workers: no worker waits while a result is written.
            while len(running) <= len(client.ncores()) and (trial := queue.take()) is not None:
                future = client.submit(run_one, bench, trial, str(folder), pure=False)
                running[future] = trial
                completed.add(future)

        fill()
        while running:
            future = next(completed)
            trial = running.pop(future)
            try:
                entry = future.result()
            except Exception as error:  # its worker died, several times
                entry = ResultLine(trial=trial.key, seconds=0.0, broken=_cause(error))
            queue.ended(trial, entry)
            yield entry
            fill()


def run_one(bench: Bench[TrialT, ResultT], trial: TrialT, folder: str) -> ResultLine:
    """Run one trial in the calling process; whatever it raises makes it a broken trial."""
    began = time.monotonic()
    broken = stop = ""
    result = None
    try:
        result = bench.run_trial(trial, Path(folder)).model_dump(mode="json")
    except BudgetExhausted as error:
        stop = str(error)
    except Exception as error:  # a trial that breaks must not take the campaign with it
        broken = _cause(error)
    seconds = round(time.monotonic() - began, 3)
    usd = bench.cost_of_broken(trial, Path(folder)) if broken or stop else 0.0
    return ResultLine(trial=trial.key, seconds=seconds, broken=broken, result=result, stop=stop, usd=usd)


def _cause(error: Exception) -> str:
    text = str(error) if isinstance(error, SpcaError) else f"{type(error).__name__}: {error}"
    return one_line(text)[:_LONGEST_CAUSE] or type(error).__name__


@contextmanager
def open_cluster(workers: int, scheduler: str = "") -> Iterator[Client]:
    """Open a client of `workers` local processes of one thread each, or of the scheduler at an address.

    A trial whose worker dies is tried on another one, three times (dask's `allowed-failures`). InputError
    where no scheduler answers.
    """
    from dask.distributed import Client, LocalCluster

    if scheduler:
        try:
            client = Client(scheduler, timeout="10s")
        except OSError as error:
            hint = "start one with `dask scheduler`"
            raise InputError("no dask scheduler answers", where=scheduler, hint=hint) from error
        with client:
            yield client
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # the workers fill the cores
    quiet: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    quiet["scheduler_kwargs"] = {"dashboard_address": "127.0.0.1:0"}  # else two campaigns want one port
    with _script_left_alone(), LocalCluster(n_workers=workers, **quiet) as cluster, Client(cluster) as client:
        client.run(_keep_quiet)
        yield client


@contextmanager
def _script_left_alone() -> Iterator[None]:
    """Keep workers from running the calling script, which needs no guard then, while the context lasts."""
    main = sys.modules["__main__"]
    spec, main.__spec__ = main.__spec__, ModuleSpec("script.__main__", None)  # such a one is never run again
    try:
        yield
    finally:
        main.__spec__ = spec


def _keep_quiet() -> None:
    """Ignore Ctrl-C in a worker, which is the campaign's affair, and what libraries tell programmers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
