"""Measure the wall time of the Plan stage over all levels.

Drafting and judging are reported separately, for the first request and for warm ones.

Run it from the checkout:  .venv/bin/python benchmarks/plan_stage.py --rounds 5

`first` is the first request of a new planner: `cold` if it is made at once, `started` if the solver process
has had the time it takes to look at a table once (2 s). `warm` are all later requests. Milliseconds of wall
time. A plan call is reading + solving + validating; drafting comes before it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import yaml

from spca_core.paths import LEVELS
from spca_core.plan import PlanRequest
from spca_core.task import Task
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains
from spca_tabletop.plan.proposer import BuiltinProposer
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.observations import scene

GROUPS = ("touch", "pickup", "pick_and_place", "stack")
Times = dict[str, list[float]]


def requests() -> list[PlanRequest]:
    """One for each tabletop level, on a table with one cube on a plate."""
    found = []
    for path in sorted(p for group in GROUPS for p in (LEVELS / group).glob("*.yaml")):
        level = yaml.safe_load(path.read_text())
        task = Task(
            group=level["task_group"], id=path.stem, title=level["title"], description=level["description"]
        )
        seen = scene(on={"cube_blue": "plate_blue"})
        found.append(PlanRequest(attempt="1", task=task, observation=seen, skills=()))
    return found


def open_planner() -> DraftingPlanner:
    """A planner that trusts nothing yet."""
    folder = Path(tempfile.mkdtemp(prefix="spca_bench_"))
    return DraftingPlanner("tabletop", BuiltinProposer(), TrustedDomains(folder), TabletopVocabulary())


def measure(planner: DraftingPlanner, request: PlanRequest, times: Times) -> None:
    """Add the milliseconds of one request to `times`."""
    began = time.perf_counter()
    result = planner.plan(request)
    whole = time.perf_counter() - began
    if result.status != "solved":
        raise SystemExit(f"{request.task.id}: {result.message}")
    draft = result.drafts[-1]
    parts = {
        "draft": draft.draft_seconds,
        "read": draft.parse_seconds,
        "solve": draft.solve_seconds,
        "validate": draft.validate_seconds,
        "plan call": whole - draft.draft_seconds,
    }
    for name, seconds in parts.items():
        times[name].append(seconds * 1000)


def first(wait: float, rounds: int) -> Times:
    """The first request of new planners, `wait` seconds after they were started."""
    times: Times = defaultdict(list)
    for _ in range(rounds):
        with open_planner() as planner:
            time.sleep(wait)
            measure(planner, requests()[-1], times)
    return times


def warm(rounds: int) -> Times:
    """All levels, by a planner that has solved one."""
    times: Times = defaultdict(list)
    with open_planner() as planner:
        planner.plan(requests()[0])
        for _ in range(rounds):
            for request in requests():
                measure(planner, request, times)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="requests of each kind")
    rounds = parser.parse_args().rounds
    print(
        f"{'ms, median (90 %)':18s}"
        + "".join(f"{n:>16s}" for n in ("draft", "read", "solve", "validate", "plan call"))
    )
    for name, times in (
        ("first, cold", first(0.0, rounds)),
        ("first, started", first(2.0, rounds)),
        ("warm", warm(rounds)),
    ):
        cells = [f"{statistics.median(t):.0f} ({sorted(t)[int(0.9 * len(t))]:.0f})" for t in times.values()]
        print(f"{name:18s}" + "".join(f"{cell:>16s}" for cell in cells))


if __name__ == "__main__":
    main()
