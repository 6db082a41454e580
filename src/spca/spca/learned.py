"""Library of what runs with a language model have learned in one environment.

That is skills, planning domains, and the levels that they solved, on which changed skills are tried.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from spca_coder.trusted import TrustedLibrary
from spca_core.errors import SpcaError
from spca_core.log import log
from spca_core.model import Record
from spca_core.options import REPLAY, RunOptions
from spca_core.paths import LIBRARY
from spca_core.plan import Plan
from spca_core.ports.environment import Environment
from spca_core.ports.reading import PlanReader
from spca_core.result import Outcome, Promotion
from spca_core.run_folder import RunFolder, write_atomically
from spca_core.skill import python_name
from spca_planner.trusted import TrustedDomains

BEFORE = "library_before"
"""Name of the folder, in a run's folder, of what was known when it began; a replay begins with the same."""
_AFTER = "library_replayed"


class Learned:
    """One environment's part of a library folder: skills, domains, and solved levels with their plans.

    `builtin` is the source of the environment's built-in skills. `build` makes the environment that a run's
    options ask for, in lockstep; `reader` says what its observations show of a plan's effects.
    """

    def __init__(
        self,
        folder: Path,
        environment: str,
        builtin: str,
        build: Callable[[RunOptions], Environment],
        reader: PlanReader,
    ) -> None:
        self._folder, self._environment, self._build, self._reader = folder, environment, build, reader
        self.skills = TrustedLibrary(folder / "skills" / environment, builtin)
        self.domains = TrustedDomains(folder / "domains")

    def promote(
        self, options: RunOptions, library: str, plan: Plan, distrust: Mapping[str, str]
    ) -> Promotion:
        """Remember the level and the table of a success, and trust the skills that the plan used.

        Skills in `distrust`, with reasons, are not trusted, nor those with which a solved level would fail.
        """
        used = tuple(dict.fromkeys(python_name(step.action) for step in plan.steps))
        if not distrust:  # a plan that did not do what it says proves nothing
            again = options.model_copy(update={"rate": None, "view": False, "llm": "", "library": ""})
            solved = SolvedLevel(options=again, plan=plan)
            write_atomically(self._path(table_name(options)), solved.model_dump_json(indent=1).encode())
        return self.skills.promote(library, used, table_name(options), self.passes, distrust)

    def copy_to(self, folder: Path) -> None:
        """Copy the environment's part of the library into `folder`, unless there is a copy already."""
        if folder.exists():
            return
        folder.mkdir(parents=True)
        for part in ("skills", "domains", "levels"):
            source = self._folder / part / self._environment
            if source.is_dir():
                shutil.copytree(source, folder / part / self._environment)

    def passes(self, library: str, table: str) -> bool:
        """Return whether a solved level's plan still solves a table (see `table_name`) with these skills.

        The referee must say so, none of the plan's effects may be seen to be missing, and no step may move
        what it is not about; `library` is source text. False for a level that is not known, or that cannot be
        tried any more.
        """
        if not self._path(table).is_file():
            return False
        try:
            solved = SolvedLevel.model_validate_json(self._path(table).read_bytes())
            with closing(self._build(solved.options)) as environment:
                before = environment.sense()
                result = environment.act("revalidation", solved.plan, library)
                outcome = environment.settle().outcome
                if outcome is Outcome.SUCCESS:
                    seen = [step.seen for step in result.steps]
                    evidence = self._reader.weigh(solved.plan, seen, environment.sense(), before)
                    if evidence.contradicted or evidence.disturbances:
                        log.info("revalidation", {"table": table, "outcome": "solved by chance"})
                        return False
        except (SpcaError, ValueError) as error:
            log.warning("revalidation", {"table": table, "error": str(error)})
            return False
        log.info("revalidation", {"table": table, "outcome": outcome.value})
        return outcome is Outcome.SUCCESS

    def _path(self, table: str) -> Path:
        return self._folder / "levels" / self._environment / f"{Path(table).name}.json"


def folder_of(options: RunOptions, run: RunFolder) -> Path:
    """Return the folder in which a run learns.

    A replay begins with what the recorded run began with, and learns within its own folder, unless the
    options name a library.
    """
    if options.llm.startswith(REPLAY) and not options.library:
        recorded = Path(recording_of(options.llm).removeprefix(REPLAY)).parent / BEFORE
        own = run.path / _AFTER
        if recorded.is_dir() and not own.exists():
            shutil.copytree(recorded, own)
        if own.is_dir():
            return own
    base = Path(options.library) if options.library else LIBRARY
    return base / "from_nothing" if options.skills == "empty" else base


def recording_of(llm: str) -> str:
    """Return `llm` with the folder of recordings in place of the run's folder that a replay may name."""
    folder = Path(llm.removeprefix(REPLAY)) / "llm"
    return f"{REPLAY}{folder}" if llm.startswith(REPLAY) and folder.is_dir() else llm


class SolvedLevel(Record):
    """A level on the table on which it was solved, and the plan that solved it."""

    options: RunOptions
    plan: Plan


def table_name(options: RunOptions) -> str:
    """Return the name of a level and its table: no two tables of a level share one.

    >>> table_name(RunOptions(level="stack_01"))
    'stack_01'
    >>> table_name(RunOptions(level="stack_01", preset="hard", seed=3))
    'stack_01@hard-3'
    """
    level = Path(options.level).stem
    table = f"{options.preset}-{options.seed}"
    world = "".join(f"-{Path(name).stem}" for name in (options.world, options.robot) if name)
    return level if (table, world) == ("nominal-0", "") else f"{level}@{table}{world}"
