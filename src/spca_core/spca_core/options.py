"""The options of a run, written to its folder so that it can be resumed and repeated."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib import metadata
from typing import Literal

from pydantic import Field, field_validator

from spca_core.budgets import Budgets
from spca_core.model import Record
from spca_core.paths import ROOT

Transport = Literal["ros", "inproc"]
Skills = Literal["auto", "builtin", "trusted", "empty"]
Rehearse = Literal["auto", "always", "never"]

# The packages whose versions can change the outcome of a run.
_VERSIONED = ("mujoco", "numpy", "scipy", "ompl", "ruckig", "unified-planning",
              "up-fast-downward", "up-tamer", "opencv-python-headless", "pydantic")  # fmt: skip


class RunOptions(Record):
    """One level on one table. `seed` draws the table (preset) and the sensor's noise."""

    level: str
    world: str = ""
    """A world file by name or path; empty is the one the level is made for."""
    robot: str = ""
    """An arm by name or by the path of its file (`spca_core.arms`); empty is the world's own."""
    transport: Transport = "ros"
    preset: str = "nominal"
    """Which distribution of initial states; the environment's kit lists its presets."""
    seed: int = Field(0, ge=0)
    noise: bool = True
    proposer: str = "builtin"
    rate: float | None = Field(None, gt=0)
    """Real-time factor; None is as fast as it can."""
    view: bool | Literal["web"] = False
    """A window that shows the simulation, or a page for the browser."""
    camera: Literal["ray", "gl"] = "ray"
    skills: Skills = "auto"
    """Which skills are available at the start: `builtin`, those that come with the environment; `trusted`,
    these and those learned in earlier runs; `empty`, only those learned by runs that started without any;
    `auto`: `trusted` with a language model, else `builtin`."""
    library: str = ""
    """Folder of what is learned and trusted; `library/` in the project if empty."""
    detector: str = "shapes"
    """What finds things in camera frames, by the name of its entry point."""
    vision: bool = False
    """Whether a vision model describes the first observation, in addition to the detector."""
    llm: str = ""
    """Where a language model's answers come from, for example `replay:FOLDER`.

    Empty means the configured server.
    """
    video: bool = True
    engine: str = "fast-downward"
    """The planning engine, by name (`spca_planner.solver.engines`)."""
    solver_timeout_s: float = Field(20.0, gt=0)
    rehearse: Rehearse = "auto"
    """When a plan is tried in a twin of what was seen, before the arm moves: `auto`, if it uses a skill that
    was written or repaired in this run; `always`; `never`."""
    budgets: Budgets = Budgets()
    rewind: bool = True
    """With a proposer that learns from it, a failed attempt is undone: the world is put back to where its
    plan began. Without one, a level has to be solved without a second chance."""


class Software(Record):
    """Running software: the project's revision, the interpreter, the platform, the packages that matter."""

    git_revision: str
    python: str
    platform: str
    versions: dict[str, str]


class Manifest(Software):
    """A run's options and everything else that determines its outcome."""

    options: RunOptions

    @field_validator("options", mode="before")
    @classmethod
    def _of_earlier_versions(cls, options: object) -> object:
        """Read what was written while experiments were options; one that was made is refused."""
        match options:
            case {
                "ablations": {
                    "one_validator": False, "whole_library": False, "small_repair": False,
                    "vision_alone": False, "no_rewind": bool(kept),
                },
                "budgets": {"rewind": False, **budgets},
                **others,
            }:  # fmt: skip
                options = {**others, "budgets": budgets, "rewind": not kept}
        match options:
            case {"drafts": 1, "twin": "", **others}:
                return others
        return options


def manifest(options: RunOptions) -> Manifest:
    """The manifest of a run started here and now."""
    return Manifest(options=options, **software().model_dump())


@cache
def software() -> Software:
    """What runs here: the code that this process has loaded stays what it was."""
    return Software(
        git_revision=_git_revision(),
        python=platform.python_version(),
        platform=platform.platform(),
        versions={name: _version(name) for name in _VERSIONED},
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _git_revision() -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
            capture_output=True,
            check=False,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip() or "unknown"
