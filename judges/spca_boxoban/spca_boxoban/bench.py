"""`spca bench boxoban`: each level is planned in the learned program, and the plan is carried out."""

from __future__ import annotations

import atexit
import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import PageTable
from spca_benchmarks.campaigns.statistics import Rate, groups
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.run_folder import RunFolder
from spca_core.validation import expecting, plain
from spca_induction.pddl import ClassicalSearch
from spca_planner.solver.process import warm_solver
from spca_programs.experience import Program
from spca_worldcoder.agent.planner import ModelPlanner
from spca_worldcoder.run import PROGRAM
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.worlds.sokoban import Level, Sokoban

SECONDS = 60.0
"""Of processor time for the plan of one level."""
_MARKS = {"#": "", " ": "", "$": "b", ".": "t", "*": "bt", "@": "p", "+": "pt"}
"""What lies in a cell: box, target, player."""


class LevelTrial(Record):
    """A level, by its part of the set and its place there."""

    part: str
    number: int

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return f"{self.part}/{self.number:04}"


class LevelResult(Record):
    """Result of a level: won by the world's own word, or not; moves of the plan; wall time of planning."""

    solved: bool
    moves: int
    seconds: float


Trials = Sequence[Done[LevelTrial, LevelResult]]


class BoxobanBench(Bench[LevelTrial, LevelResult]):
    """The first `count` levels of a part, in the rules of a run of `spca learn sokoban`."""

    name = "boxoban"
    title: ClassVar[str] = "Boxoban"
    result_type: ClassVar[type[Record]] = LevelResult

    levels: Path
    rules: Path
    part: str = "unfiltered/test"
    count: int = Field(1000, ge=1)

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; the same wherever levels and rules lie."""
        rules = hashlib.sha256(read_program(self.rules).source.encode()).hexdigest()[:12]
        return {"rules": rules, "part": self.part, "count": self.count}

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        read_program(self.rules)
        read_levels(self.levels / self.part)

    def trials(self) -> list[LevelTrial]:
        """See `Bench`."""
        there = len(read_levels(self.levels / self.part))
        return [LevelTrial(part=self.part, number=n) for n in range(min(self.count, there))]

    def run_trial(self, trial: LevelTrial, folder: Path) -> LevelResult:
        """See `Bench`."""
        level = read_levels(self.levels / trial.part)[trial.number]
        planner, world = _planner(), Sokoban(max(1, len(level.boxes)), level.size)
        state, mission = world.begin(level)
        before = planner.seconds
        plan = planner.plan(read_program(self.rules), state, mission, world.actions)
        actions = plan.actions if plan is not None else ()
        steps = [world.step(action) for action in actions]
        won = bool(steps) and steps[-1].done and steps[-1].reward > 0
        return LevelResult(solved=won, moves=len(actions), seconds=round(planner.seconds - before, 3))

    def success(self, result: LevelResult) -> bool:
        """See `Bench`."""
        return result.solved

    def table(self, done: Trials) -> PageTable:
        """By part of the set."""
        heads = ("part", "levels", "solved", "95 % interval", "median moves", "median s", "slowest s")
        return PageTable(heads, [_row(p, own) for p, own in groups(done, lambda d: d.trial.part).items()])


def _row(part: str, done: Trials) -> tuple[object, ...]:
    results = [d.result for d in done]
    rate, seconds = Rate.of(r.solved for r in results), [r.seconds for r in results]
    moves = median([r.moves for r in results if r.solved] or [0])
    return part, len(results), str(rate), rate.percent_interval, moves, median(seconds), max(seconds)


@lru_cache(maxsize=1)
def read_levels(folder: Path) -> list[Level]:
    """The levels of all files in a folder. Raises InputError, which names the level."""
    with expecting("a folder of levels", folder):
        blocks = [b for f in sorted(folder.glob("*.txt")) for b in plain(f).read_text("utf-8").split(";")[1:]]
    if not blocks:
        raise InputError("holds no levels", str(folder), "a folder of google-deepmind/boxoban-levels")
    return [_level(block, f"{folder}, level {number}") for number, block in enumerate(blocks)]


def _level(block: str, where: str) -> Level:
    rows = [row for row in block.splitlines()[1:] if row]
    cells = {(x, y): mark for y, row in enumerate(rows) for x, mark in enumerate(row)}
    having = {
        thing: frozenset(cell for cell, mark in cells.items() if thing in _MARKS.get(mark, ""))
        for thing in "btp"
    }
    square = rows and all(len(row) == len(rows) for row in rows)
    if not square or not set(cells.values()) <= _MARKS.keys() or len(having["p"]) != 1:
        raise InputError("is no square of walls, floor, boxes, targets and one player", where=where)
    floor = frozenset(cell for cell, mark in cells.items() if mark != "#")
    return Level(len(rows), floor, having["b"], having["t"], *having["p"])


@lru_cache(maxsize=1)
def read_program(run: Path) -> Program:
    """Read the program that a run has learned. Raises InputError."""
    if not (run / PROGRAM).is_file():
        raise InputError("holds no learned rules", where=str(run), hint="a run of `spca learn sokoban`")
    return RunFolder(run).read(PROGRAM, Program)


@lru_cache(maxsize=1)
def _planner() -> ModelPlanner:
    """One for all levels of a process."""
    runner = ModelRunner()
    atexit.register(runner.close)
    return ModelPlanner(runner, [ClassicalSearch(warm_solver(), SECONDS)])
