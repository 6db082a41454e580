"""Many independent jobs on several cores, every result on disk at once, so that a killed campaign can go on."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

from spca_core.errors import InputError

Job = TypeVar("Job")
Result = dict[str, Any]
"""Plain JSON values."""

_DESCRIPTION = "campaign.json"
_RESULTS = "results.jsonl"


def run_jobs(
    folder: Path,
    description: Mapping[str, Any],
    jobs: Mapping[str, Job],
    work: Callable[[Job], Result],
    workers: int = 2,
    on_result: Callable[[str, Result], None] = lambda key, result: None,
) -> dict[str, Result]:
    """Do every job that the folder has no result of yet; returns all results by job.

    `work` runs in processes of its own (in this one if `workers` is 1) and must be importable. `description` says
    what the campaign is; InputError if the folder holds another one. Order on disk is the order of completion.
    """
    _claim(folder, description)
    results = read_results(folder)
    results = {key: results[key] for key in jobs if key in results}
    for key, result in results.items():
        on_result(key, result)
    with (folder / _RESULTS).open("a", encoding="utf-8") as file:

        def keep(key: str, result: Result) -> None:
            file.write(json.dumps({"job": key, "result": result}, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
            results[key] = result
            on_result(key, result)

        todo = {key: job for key, job in jobs.items() if key not in results}
        if workers == 1:
            for key, job in todo.items():
                keep(key, work(job))
        else:
            _in_parallel(todo, work, workers, keep)
    return {key: results[key] for key in jobs}


def _in_parallel(
    todo: Mapping[str, Job], work: Callable[[Job], Result], workers: int, keep: Callable[[str, Result], None]
) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        running = {pool.submit(work, job): key for key, job in todo.items()}
        try:
            while running:
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    keep(running.pop(done), done.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def read_results(folder: Path) -> dict[str, Result]:
    """What a campaign's folder holds so far; a last line that was cut off by a kill is left out and done again."""
    path = folder / _RESULTS
    results: dict[str, Result] = {}
    if not path.exists():
        return results
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    for line in whole.splitlines():
        record = json.loads(line)
        results[record["job"]] = record["result"]
    return results


def _claim(folder: Path, description: Mapping[str, Any]) -> None:
    """Mark a folder as this campaign's, or find that it is already."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _DESCRIPTION
    plain = json.loads(json.dumps(description))
    if path.exists():
        there = json.loads(path.read_text(encoding="utf-8"))
        different = sorted(k for k in {*there, *plain} if there.get(k) != plain.get(k))
        if different:
            raise InputError(
                f"holds another campaign ({', '.join(different)} differ)",
                str(folder),
                "give a new folder with --out",
            )
    elif any(folder.iterdir()):
        raise InputError("is not empty and holds no campaign", str(folder), "give a new folder with --out")
    else:
        path.write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
