"""A dask cluster for the trials: the cores of this machine, or an outside scheduler."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spca_core.errors import InputError

if TYPE_CHECKING:
    from dask.distributed import Client


@contextmanager
def open_cluster(workers: int, scheduler: str = "") -> Iterator[Client]:
    """A client of `workers` local processes of one thread each, or of the scheduler at an address.

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
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(_leave_interrupts)
        yield client


def _leave_interrupts() -> None:
    """In a worker: Ctrl-C is the campaign's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
