"""What the commands and benches of planning programs are told: their options are made of these fields."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from pydantic import ConfigDict, Field

from spca_core.model import Record
from spca_core.paths import LIBRARY

PROGRAMS = LIBRARY / "programs"
"""Where programs are kept by default."""
Energy = Literal["random", "vertical", "horizontal", "cluster", "spiral"]
Start = Literal["inner", "outer"]
ENERGIES: tuple[Energy, ...] = get_args(Energy)
STARTS: tuple[Start, ...] = get_args(Start)
GRIDS_PER_FAMILY = 100


class Options(Record):
    """A record of whose fields, with their texts, options of the command line are made."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Recipe(Options):
    """Recipe for making a program.

    `strategy` writes the first ones; `refine` is the most rounds of refinement after it.
    """

    strategy: Literal["direct", "pseudocode", "steps"] = "direct"
    """direct, pseudocode or steps."""
    refine: int = Field(0, ge=0)
    """Rounds of refinement at most."""
    patience: int = Field(1, ge=1)
    """Rounds without improvement before it ends."""
    train: int = Field(160, ge=1)
    """Training cases."""
    test: int = Field(1600, ge=1)
    """Test cases."""
    seed: int = 0
    """Draws the cases."""
    deadline_s: float = Field(2.0, gt=0)
    """Wall time of the program for one case."""


class Slice(Options):
    """A part of GRASP; None is "all"."""

    energy: Energy | None = None
    """random, vertical, horizontal, cluster or spiral."""
    obstacles: bool | None = None
    """Only grids with, or without, obstacles."""
    start: Start | None = None
    """inner or outer."""
    moves: int | None = Field(None, ge=4, le=8, multiple_of=4)
    """4, or 8 with diagonals."""
    carry: Literal["none", "2"] | None = None
    """Carry limit: none or 2."""
    cost: float | None = None
    """Cost of an action: 0 or 0.3."""
    count: int = Field(GRIDS_PER_FAMILY, ge=1)
    """Grids of each family; 100, but 10 for a model, as published."""


class GraspOptions(Options):
    """A policy, and the grids that it is scored on."""

    policy: str
    """random, greedy, exact, a Python file with `solve`, a model's configuration (YAML), or `replay:FOLDER`
    of an earlier campaign."""
    data: Path | None = None
    """Folder of GRASP's released grids; generated ones by default."""
    seed: int = 0
    """Draws the grids (unless released ones are given), and chance."""
    part: Slice = Slice()
    """Which of them."""
    deadline: float = 2.0
    """Seconds a program has for one environment."""


class IppOptions(Options):
    """Tasks × (programs, and models × ways)."""

    tasks: tuple[str, ...] = ("grasp",)
    """grasp, minigrid-unlock, minigrid-doorkey, minigrid-unlockpickup; all by default."""
    programs: tuple[str, ...] = ()
    """random, greedy or exact (GRASP), example, a Python file, or the id of a stored program; repeatable.
    With models: random and greedy by default."""
    models: tuple[Path, ...] = ()
    """A model configuration (YAML); repeatable."""
    ways: tuple[str, ...] = ("direct",)
    """direct, pseudocode, steps, each with or without +refine; zero-shot, chain-of-thought, two-step, or all;
    repeatable."""
    repeats: int = Field(1, ge=1)
    """Number of times each model tries each strategy."""
    train: int = Field(160, ge=1)
    """Training cases."""
    test: int = Field(200, ge=1)
    """Test cases, the same for all."""
    rounds: int = Field(10, ge=1)
    """Rounds of refinement at most."""
    seed: int = 0
    """Draws the cases."""
    deadline: float = Field(2.0, gt=0)
    """Seconds a program has for one case."""
    data: Path | None = None
    """Folder of GRASP's released grids; generated ones by default."""
    store: Path = PROGRAMS
    """Where programs are kept; library/programs by default."""
    llm: str = ""
    """`replay:FOLDER`: repeat an earlier campaign from its recorded answers."""
