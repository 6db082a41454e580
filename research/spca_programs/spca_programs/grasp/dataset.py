"""The benchmark's environments: 160 settings of 100 grids each, generated or read from the released files."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.validation import expecting, plain
from spca_programs.grasp.generate import generate
from spca_programs.grasp.grid import Grid
from spca_programs.grasp.rules import Rules
from spca_programs.options import ENERGIES, GRIDS_PER_FAMILY, STARTS, Energy, Slice, Start

RULES = tuple(
    Rules(diagonals=diagonals, carry_limit=limit, cost=cost)
    for diagonals, limit, cost in itertools.product((False, True), (None, 2), (0.0, 0.3))
)
# The released files call a grid upDown whose left and right halves differ, and the other way round.
_RELEASED_ENERGY: dict[str, Energy] = {
    "random": "random",
    "upDown": "horizontal",
    "leftRight": "vertical",
    "cluster": "cluster",
    "spiral": "spiral",
}


class Family(Record):
    """Parameters that a grid was drawn with."""

    energy: Energy
    obstacles: bool
    start: Start

    @property
    def name(self) -> str:
        """For example `inner-spiral-block`."""
        return f"{self.start}-{self.energy}-{'block' if self.obstacles else 'free'}"


FAMILIES = tuple(
    Family(energy=e, obstacles=o, start=s) for s, e, o in itertools.product(STARTS, ENERGIES, (False, True))
)


class Environment(Record, arbitrary_types_allowed=True):
    """A grid with its rules; `family` and `index` say where the grid comes from."""

    grid: Grid
    rules: Rules
    family: Family
    index: int

    @property
    def name(self) -> str:
        """Unique within a set, for example `inner-spiral-block-07/8,∞,0.3`."""
        return f"{self.family.name}-{self.index:02}/{self.rules}"


Drawn = tuple[Family, int, Grid]


def generated(seed: int = 0, count: int = GRIDS_PER_FAMILY) -> Iterator[Drawn]:
    """`count` grids of each of the 20 families; equal seeds give equal grids whatever the count."""
    for number, family in enumerate(FAMILIES):
        for index in range(count):
            rng = np.random.default_rng([seed, number, index])
            yield family, index, generate(family.energy, family.obstacles, family.start, rng)


def released(folder: Path) -> Iterator[Drawn]:
    """The grids of all released files in a folder (`inner_spiral_block.jsonl`, …)."""
    files = sorted(folder.glob("*_*_*.jsonl"))
    if not files:
        raise InputError("no released grids", str(folder), "expected files such as inner_random_free.jsonl")
    for file in files:
        start, energy, obstacles = file.stem.split("_")
        if start not in STARTS or energy not in _RELEASED_ENERGY or obstacles not in ("block", "free"):
            raise InputError(f"unknown family {file.stem!r}", str(file), "expected e.g. outer_upDown_block")
        traits = {"energy": _RELEASED_ENERGY[energy], "obstacles": obstacles == "block", "start": start}
        family = Family.model_validate(traits)
        with expecting("a file of released grids", file):
            lines = plain(file).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            where = f"{file}:{number}"
            with expecting("a released grid", where):
                record = json.loads(line)
                grid = Grid.from_text(record["grid"], where)
                index, home = int(record["index"]), tuple(record["start"])
            if home != grid.start:
                raise InputError(f"start {home} disagrees with the grid's {grid.start}", where)
            yield family, index, grid


def _has(part: Slice, one: Environment) -> bool:
    traits = (
        (part.energy, one.family.energy), (part.obstacles, one.family.obstacles),
        (part.start, one.family.start), (part.moves, len(one.rules.moves)),
        (part.carry, str(one.rules.carry_limit or "none")), (part.cost, one.rules.cost),
    )  # fmt: skip
    return one.index < part.count and all(wanted in (None, its) for wanted, its in traits)


def environments(grids: Iterator[Drawn] | Sequence[Drawn], part: Slice | None = None) -> list[Environment]:
    """Every grid of a slice under each of the slice's rules."""
    part = part or Slice()
    every = (
        Environment(grid=grid, rules=rules, family=family, index=index)
        for family, index, grid in grids
        for rules in RULES
    )
    found = [one for one in every if _has(part, one)]
    if not found:
        raise InputError("the slice holds no environment", hint="leave out one of its conditions")
    return found
