"""The levels that were solved with the trusted skills.

They are kept so that changed skills can be tried on them.
"""

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
from spca_core.ports.vocabulary import Vocabulary
from spca_core.run_folder import write_atomically
from spca_core.verdict import Outcome
from spca_planner.prediction import weigh

log = structlog.get_logger(__name__)


class SolvedLevel(Record):
    """A level on the table on which it was solved, and the plan that solved it."""

    options: RunOptions
    plan: Plan


def table_name(options: RunOptions) -> str:
    """A level and its table by name: no two tables of a level share one.

    >>> table_name(RunOptions(level="stack_01"))
    'stack_01'
    >>> table_name(RunOptions(level="stack_01", preset="hard", seed=3))
    'stack_01@hard-3'
    """
    level = Path(options.level).stem
    table = f"{options.preset}-{options.seed}"
    world = "".join(f"-{Path(name).stem}" for name in (options.world, options.robot) if name)
    return level if (table, world) == ("nominal-0", "") else f"{level}@{table}{world}"


class SolvedLevels:
    """One file for each level and table in `folder`.

    `build` makes the environment that a run's options ask for, in lockstep; `vocabulary` says what its
    observations show of a plan's effects.
    """

    def __init__(
        self, folder: Path, build: Callable[[RunOptions], Environment], vocabulary: Vocabulary
    ) -> None:
        self._folder, self._build, self._vocabulary = folder, build, vocabulary

    def keep(self, options: RunOptions, plan: Plan) -> None:
        """Remember a success; a later one on the same table takes the place of an earlier one."""
        solved = SolvedLevel(
            options=options.model_copy(update={"rate": None, "view": False, "llm": "", "library": ""}),
            plan=plan,
        )
        write_atomically(self._path(table_name(options)), solved.model_dump_json(indent=1).encode())

    def passes(self, library: str, table: str) -> bool:
        """Whether the plan that solved a level on a table (see `table_name`) still does with these skills.

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
                    afterwards = environment.sense()
                    evidence = weigh(solved.plan, seen, afterwards, self._vocabulary, before)
                    if evidence.contradicted or evidence.disturbances:
                        log.info("revalidation", table=table, outcome="solved by chance")
                        return False
        except (SpcaError, ValueError) as error:
            log.warning("revalidation", table=table, error=str(error))
            return False
        log.info("revalidation", table=table, outcome=outcome.value)
        return outcome is Outcome.SUCCESS

    def _path(self, table: str) -> Path:
        return self._folder / f"{Path(table).name}.json"
