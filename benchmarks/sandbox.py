"""Measure what the sandbox costs.

Medians of the time to start a worker, to serve a skill's call through `ctx`, and to call a program.

.venv/bin/python benchmarks/sandbox.py --rounds 20
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from spca_sandbox.host import SkillHost
from spca_sandbox.limits import PROGRAM_MODULES, Limits
from spca_sandbox.process import probe
from spca_testing.sandbox import API, World

SOURCE = """
def skill(ctx, calls):
    for _ in range(int(calls)):
        ctx.locate("cube")

def program(grid):
    return [sum(row) for row in grid]
"""
GRID = [[0, 1] * 5] * 11
CALLS = 500


def median_ms(work: Callable[[], object], rounds: int, per: int = 1) -> float:
    """Median wall time of `work` in milliseconds, divided by `per`."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1e3 / per)
    return statistics.median(times)


def start(limits: Limits) -> None:
    with SkillHost(limits=limits) as host:
        _ = host.report


def main(rounds: Annotated[int, typer.Option(help="Repetitions of each measurement.")] = 20) -> None:
    """Measure and print."""
    table = Table("what", "median ms", title=str(probe()))
    table.add_row("start and lock in, for skills", f"{median_ms(lambda: start(Limits()), rounds):.1f}")
    programs = Limits(modules=PROGRAM_MODULES)
    table.add_row("start and lock in, for programs", f"{median_ms(lambda: start(programs), rounds):.1f}")
    with SkillHost(API) as host:
        host.load(SOURCE)
        empty = median_ms(lambda: host.run("skill", ["0"], World()), rounds)
        full = median_ms(lambda: host.run("skill", [str(CALLS)], World()), rounds)
        one = median_ms(lambda: [host.call("program", [GRID]) for _ in range(100)], rounds, 100)
        many = median_ms(lambda: list(host.call_many("program", [[GRID]] * 1000)), rounds, 1000)
    table.add_row("run a skill that does nothing", f"{empty:.3f}")
    table.add_row("one call through ctx", f"{(full - empty) / CALLS:.3f}")
    table.add_row("call a program", f"{one:.3f}")
    table.add_row("call a program, in a batch", f"{many:.3f}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
