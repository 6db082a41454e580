"""The levels that were solved with the trusted skills, kept so that they can be tried again with changed ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import structlog

from spca_core.errors import SpcaError
from spca_core.model import Record
from spca_core.options import RunOptions
from spca_core.plan import Plan
from spca_core.ports.environment import Environment
from spca_core.run_folder import write_atomically
from spca_core.verdict import Outcome

log = structlog.get_logger(__name__)


class SolvedLevel(Record):
    """A level on the table on which it was solved, and the plan that solved it."""

    options: RunOptions
    plan: Plan


class SolvedLevels:
    """One file a level in `folder`; `build` makes the environment that a run's options ask for, in lockstep."""

    def __init__(self, folder: Path, build: Callable[[RunOptions], Environment]) -> None:
        self._folder, self._build = folder, build

    def keep(self, level: str, options: RunOptions, plan: Plan) -> None:
        """Remember a success; a later one takes the place of an earlier one."""
        solved = SolvedLevel(
            options=options.model_copy(update={"rate": None, "view": False, "llm": "", "library": ""}),
            plan=plan,
        )
        write_atomically(self._path(level), solved.model_dump_json(indent=1).encode())

    def passes(self, library: str, level: str) -> bool:
        """Whether the plan that solved a level still does with these skills (source text), from the same table.

        False for a level that is not known, or that cannot be tried any more.
        """
        if not self._path(level).is_file():
            return False
        try:
            solved = SolvedLevel.model_validate_json(self._path(level).read_bytes())
            with closing(self._build(solved.options)) as environment:
                environment.sense()
                environment.act("revalidation", solved.plan, library)
                verdict = environment.settle()
        except (SpcaError, ValueError) as error:
            log.warning("revalidation", level=level, error=str(error))
            return False
        log.info("revalidation", level=level, outcome=verdict.outcome.value)
        return verdict.outcome is Outcome.SUCCESS

    def _path(self, level: str) -> Path:
        return self._folder / f"{Path(level).stem}.json"
