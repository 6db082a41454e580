"""Runs a campaign on a dask cluster: the cores of this machine, or an outside scheduler."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dask.distributed import Client, LocalCluster, as_completed

from spca.campaign.results import TrialResult, append_result, read_results
from spca.campaign.spec import CampaignSpec, Trial
from spca.campaign.trial import run_trial
from spca_core.errors import InputError
from spca_core.options import RunOptions, manifest
from spca_core.run_folder import write_atomically

SPEC = "campaign.json"
MANIFEST = "manifest.json"
# A trial whose worker died is tried this often elsewhere before it counts as broken.
RETRIES = 3


def open_campaign(folder: Path, spec: CampaignSpec) -> None:
    """Begin a campaign in `folder`, or take up the same one again. InputError when another one is there."""
    file = folder / SPEC
    if file.is_file():
        if CampaignSpec.model_validate_json(file.read_bytes()) != spec:
            raise InputError(
                "another campaign is in this folder", where=str(folder), hint="name a new folder with --out"
            )
        return
    write_atomically(file, spec.model_dump_json(indent=1).encode())
    example = manifest(RunOptions(level=spec.levels[0], transport="inproc", proposer=spec.proposer))
    write_atomically(folder / MANIFEST, example.model_dump_json(indent=1).encode())


def run_campaign(
    folder: Path,
    spec: CampaignSpec,
    scheduler: str = "",
    workers: int | None = None,
    on_result: Callable[[TrialResult, int, int], None] | None = None,
) -> list[TrialResult]:
    """Run every trial that has no result yet; `on_result(result, done, all)` after each. Returns all results.

    `scheduler` is the address of an outside dask scheduler whose workers see `folder` at the same path.
    """
    open_campaign(folder, spec)
    trials = list(spec.trials())
    known = {r.trial.key for r in read_results(folder)[0]}
    todo = [t for t in trials if t.key not in known]
    done = len(trials) - len(todo)
    if not todo:
        return read_results(folder)[0]
    with _client(scheduler, workers) as client:
        futures = {
            client.submit(run_trial, spec, t, str(folder.resolve()), pure=False, retries=RETRIES): t
            for t in todo
        }
        for future in as_completed(futures):
            result = _outcome(future, futures[future])
            append_result(folder, result)
            done += 1
            if on_result is not None:
                on_result(result, done, len(trials))
            futures.pop(future, None)
    return read_results(folder)[0]


def _client(scheduler: str, workers: int | None) -> Client:
    if scheduler:
        try:
            return Client(scheduler, timeout="10s")
        except OSError as error:
            raise InputError(
                "no dask scheduler answers", where=scheduler, hint="start one with `dask scheduler`"
            ) from error
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(
            name, "1"
        )  # the workers fill the cores; more threads only get in each other's way
    cluster = LocalCluster(
        n_workers=workers or os.cpu_count() or 1,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=50,
    )
    return Client(cluster)


def _outcome(future: object, trial: Trial) -> TrialResult:
    try:
        return future.result()  # type: ignore[attr-defined]
    except Exception as error:  # its worker died too often
        return TrialResult(
            trial=trial, outcome="broken", score=0.0, cause=f"{type(error).__name__}: {error}"[:300],
            wall=0.0, sim=0.0, rounds=0, steps=0, stage_wall={},
        )  # fmt: skip
