"""The options of a run, written to its folder so that it can be resumed and repeated."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib import metadata
from typing import Any, Literal, get_args

from pydantic import ConfigDict, Field

from spca_core.model import Part, Record
from spca_core.paths import ROOT

Transport = Literal["ros", "inproc"]
Skills = Literal["auto", "builtin", "trusted", "empty"]
Rehearse = Literal["auto", "always", "never"]
REPLAY = "replay:"
"""Beginning of a value of `--llm` that names a folder of recorded answers in place of a configuration."""

# The packages whose versions can change the outcome of a run.
_VERSIONED = ("mujoco", "numpy", "scipy", "ompl", "ruckig", "unified-planning",
              "up-fast-downward", "up-tamer", "opencv-python-headless", "pydantic")  # fmt: skip


class Budgets(Part):
    """Bounds of the supervisor's loops; the defaults are the published method's."""

    rounds: int = Field(5, ge=1)
    """Maximum number of Sense-Plan-Code-Act rounds in a level."""
    drafts: int = Field(8, ge=1)
    """Maximum number of planner drafts for one plan."""
    code_drafts: int = Field(5, ge=1)
    """Maximum number of code drafts in one call of the coder."""
    code_retries: int = Field(5, ge=0)
    """Maximum number of repairs of the code for one and the same plan."""
    rehearsal_s: float = Field(120.0, gt=0)
    """Simulated seconds after which one rehearsal begins no further try: how fast the machine is, and what
    else it does, must not decide what comes of it."""
    rehearsals_s: float = Field(600.0, gt=0)
    """Simulated seconds for all rehearsals of a level; when they are spent, plans are carried out without."""


class RunOptions(Record):
    """One level on one table.

    The one list of what a run can be told: command-line options, keyword arguments, launch arguments and
    parameters of the supervisor are made of these fields, with these texts.
    """

    model_config = ConfigDict(use_attribute_docstrings=True, str_max_length=4096, allow_inf_nan=False)

    level: str
    """A level's name, the path of a level file, or `minigrid:` and a MiniGrid level."""
    world: str = ""
    """A world in worlds/ or a world file; by default the level's own, or `tabletop`."""
    robot: str = ""
    """An arm: ur3e, ur5, ur5e, ur10e, panda, another one's name or file; by default the world's own."""
    transport: Transport = "inproc"
    """`inproc`: a simulator in this process; `ros`: the robot on the ROS graph, or a simulator that ends with
    the run."""
    preset: str = "nominal"
    """The table: nominal, shuffled, noisy, hard or disturbed."""
    seed: int = Field(0, ge=0)
    """Random seed of the table (except nominal) and of the sensor noise."""
    noise: bool = True
    """Sensor noise of the camera."""
    proposer: str = "builtin"
    """`builtin` (no model needed), `openai`, or `auto`."""
    rate: float | None = Field(None, gt=0)
    """Real-time factor; as fast as it can by default."""
    view: bool | Literal["web"] = False
    """A window that shows the simulation, or a page for the browser."""
    skills: Skills = "auto"
    """Skills at the start: builtin, trusted (and learned ones), empty, or auto (trusted with a model)."""
    library: str = ""
    """Folder of what is learned and trusted; library/ by default."""
    detector: str = "shapes"
    """What finds things in camera frames, by name; see `spca doctor`."""
    vision: bool = False
    """A vision model adds remarks to what the detector sees."""
    llm: str = ""
    """A model configuration (docs/models.md; 180 s for an answer), or `replay:FOLDER`: of a recorded run."""
    video: bool | Literal["hd"] = True
    """A video, drawn after the report; `--video hd`: in 1280 × 720 pixels instead of 640 × 360."""
    engine: str = "fast-downward"
    """Planning engine: fast-downward, or one of Unified Planning's that is installed."""
    solver_timeout_s: float = Field(20.0, gt=0, le=86400)
    """Seconds that the planning engine may take for one draft."""
    rehearse: Rehearse = "auto"
    """Try plans in a twin of what was seen before acting: auto (new skills only), always, never."""
    budgets: Budgets = Budgets()
    """Limits of rounds, drafts, retries and rehearsals."""
    rewind: bool = True
    """With a proposer that learns from it, a failed attempt is undone: the world is put back to where its
    plan began. Without one, a level has to be solved without a second chance."""


THINKING = ("proposer", "llm", "vision", "detector", "skills", "library", "engine", "solver_timeout_s",
            "rehearse")  # fmt: skip
"""Options of the program, whatever its world is: parameters of the supervisor, and launch arguments."""


def described(name: str) -> tuple[Any, tuple[str, ...], str]:
    """Return an option's default, the words that it may be (none, where any will do), and what it is."""
    field = RunOptions.model_fields[name]
    words = tuple(word for word in get_args(field.annotation) if isinstance(word, str))
    return field.default, words, field.description or ""


class Software(Record):
    """Running software: the project's revision, the interpreter, the platform, the packages that matter."""

    git_revision: str
    python: str
    platform: str
    versions: dict[str, str]


class Manifest(Software):
    """A run's options and everything else that determines its outcome."""

    options: RunOptions


def manifest(options: RunOptions) -> Manifest:
    """Return the manifest of a run that is started here and now."""
    return Manifest(options=options, **software().model_dump())


@cache
def software() -> Software:
    """Return the software that runs here, as found by the first call: loaded code stays what it was."""
    return Software(
        git_revision=_git_revision(),
        python=platform.python_version(),
        platform=platform.platform(),
        versions={name: distribution(name) or "missing" for name in _VERSIONED},
    )


def distribution(name: str) -> str | None:
    """Return the version of an installed Python distribution, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _git_revision() -> str:
    try:
        command = ["git", "--no-optional-locks", "-C", str(ROOT), "describe", "--always", "--dirty"]
        done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip() or "unknown"
