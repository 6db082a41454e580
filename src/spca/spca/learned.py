"""What runs with a language model have learned in one environment.

That is skills, planning domains, and the levels that they solved.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from spca.solved_levels import SolvedLevels, table_name
from spca_coder.trusted import TrustedLibrary
from spca_core.options import RunOptions
from spca_core.paths import LIBRARY
from spca_core.plan import Plan
from spca_core.ports.environment import Environment
from spca_core.ports.vocabulary import Vocabulary
from spca_core.result import Promotion
from spca_core.run_folder import RunFolder
from spca_core.skill import python_name
from spca_llm.config import REPLAY
from spca_planner.trusted import TrustedDomains

BEFORE = "library_before"
"""Folder in a run's folder: what was known when it began. A replay begins with the same."""
_AFTER = "library_replayed"
_PARTS = ("skills", "domains", "levels")


class Learned:
    """One environment's part of a library folder.

    `builtin` is the source of the environment's built-in skills.
    """

    def __init__(
        self,
        folder: Path,
        environment: str,
        builtin: str,
        build: Callable[[RunOptions], Environment],
        vocabulary: Vocabulary,
    ) -> None:
        self._folder, self._environment = folder, environment
        self.skills = TrustedLibrary(folder / "skills" / environment, builtin)
        self.domains = TrustedDomains(folder / "domains")
        self._solved = SolvedLevels(folder / "levels" / environment, build, vocabulary)

    def promote(
        self, options: RunOptions, library: str, plan: Plan, distrust: Mapping[str, str]
    ) -> Promotion:
        """After a success: remember the level and its table, and trust the skills the plan used.

        But for those in `distrust`, with the reason, and those with which more levels would fail than pass.
        """
        used = tuple(dict.fromkeys(python_name(step.action) for step in plan.steps))
        if not distrust:  # a plan that did not do what it says proves nothing
            self._solved.keep(options, plan)
        return self.skills.promote(library, used, table_name(options), self._solved.passes, distrust)

    def copy_to(self, folder: Path) -> None:
        """Copy all of it, unless there is a copy already."""
        if folder.exists():
            return
        folder.mkdir(parents=True)
        for part in _PARTS:
            source = self._folder / part / self._environment
            if source.is_dir():
                shutil.copytree(source, folder / part / self._environment)


def folder_of(options: RunOptions, run: RunFolder) -> Path:
    """Where a run learns. What grew from nothing is kept apart from what stands on the builtin skills.

    A replay begins with what the recorded run began with, and learns within its own folder, unless the
    options name a library.
    """
    if options.library:
        base = Path(options.library)
    else:
        base = _replayed(options, run) or LIBRARY
        if base != LIBRARY:
            return base
    return base / "from_nothing" if options.skills == "empty" else base


def recording_of(llm: str) -> str:
    """The value of `--llm`; a replay may name a run's folder in place of the recordings in it."""
    folder = Path(llm.removeprefix(REPLAY)) / "llm"
    return f"{REPLAY}{folder}" if llm.startswith(REPLAY) and folder.is_dir() else llm


def _replayed(options: RunOptions, run: RunFolder) -> Path | None:
    if not options.llm.startswith(REPLAY):
        return None
    recorded = Path(recording_of(options.llm).removeprefix(REPLAY)).parent / BEFORE
    own = run.path / _AFTER
    if recorded.is_dir() and not own.exists():
        shutil.copytree(recorded, own)
    return own if own.is_dir() else None
