"""`spca bench ipc`: what the stack's reader makes of the competitions' PDDL, beside Fast Downward's."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from spca_bench.bench import Bench, Done
from spca_bench.page import PageTable
from spca_core.errors import InputError
from spca_core.model import Record
from spca_planner.pddl.formula import ground
from spca_planner.pddl.lint import parse
from spca_planner.pddl.sexpr import PddlError

Content = dict[str, set[tuple[str, ...]]]
_OUTCOMES = (
    "read",
    "refused: larger than a draft may be",
    "refused: a part of PDDL that is not supported",
    "refused: a fault of the file",
)


class PairTrial(Record):
    """A domain and a problem, by their paths in the set."""

    domain: str
    problem: str

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return self.problem


class PairResult(Record):
    """What became of it. `same`: whether Fast Downward's reader finds the same, or refuses it, too."""

    outcome: str
    same: bool
    why: str = ""


class IpcBench(Bench[PairTrial, PairResult]):
    """`each` problems of every domain of the set, evenly spread."""

    name = "ipc"
    result_type: ClassVar[type[Record]] = PairResult

    domains: Path
    each: int = Field(4, ge=1)

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        pairs_in(self.domains)

    def trials(self) -> list[PairTrial]:
        """See `Bench`."""
        chosen = [pairs[:: max(1, len(pairs) // self.each)][: self.each] for pairs in pairs_in(self.domains)]
        return [PairTrial(domain=domain, problem=problem) for some in chosen for domain, problem in some]

    def run_trial(self, trial: PairTrial, folder: Path) -> PairResult:
        """See `Bench`."""
        paths = [self.domains / "classical" / name for name in (trial.domain, trial.problem)]
        theirs, why = Content(), ""
        try:
            theirs = _theirs(*paths)
        except (Exception, SystemExit) as error:  # its reader has many ways to say that a file is wrong
            why = str(error)
        try:
            ours = _ours(*(path.read_text(encoding="latin-1") for path in paths))
        except PddlError as error:
            return PairResult(outcome=_kind(error.faults), same=not theirs, why="; ".join(error.faults))
        differ = [name for name in ours if ours[name] != theirs.get(name)]
        return PairResult(outcome=_OUTCOMES[0], same=not differ, why=why or ", ".join(differ))

    def success(self, result: PairResult) -> bool:
        """See `Bench`."""
        return result.outcome == _OUTCOMES[0]

    def remark(self, done: Done[PairTrial, PairResult]) -> str:
        """See `Bench`."""
        return done.result.why[:200]

    def table(self, done: Sequence[Done[PairTrial, PairResult]]) -> PageTable:
        """By what became of the files."""
        rows = []
        for outcome in _OUTCOMES:
            own = [d for d in done if d.result.outcome == outcome]
            domains = {d.trial.problem.partition("/")[0] for d in own}
            rows.append((outcome, len(own), len(domains), sum(d.result.same for d in own)))
        return PageTable(("outcome", "problems", "domains", "the same by Fast Downward's reader"), rows)


@lru_cache(maxsize=1)
def pairs_in(folder: Path) -> list[list[tuple[str, str]]]:
    """The pairs of each domain whose files are there, as the set's own tables say. Raises InputError."""
    root = folder / "classical"
    tables = [
        ast.literal_eval(p.read_text().partition("=")[2].strip()) for p in sorted(root.glob("*/api.py"))
    ]
    if not tables:
        raise InputError("holds no domains", where=str(folder), hint="a checkout of classical-domains")
    listed = [[pair for one in table for pair in one["problems"]] for table in tables]
    return [[pair for pair in some if all((root / name).is_file() for name in pair)] for some in listed]


def _kind(faults: Sequence[str]) -> str:
    if all("at most" in fault for fault in faults):
        return _OUTCOMES[1]
    return _OUTCOMES[2 if any("not supported" in fault for fault in faults) else 3]


def _ours(domain_text: str, problem_text: str) -> Content:
    domain, problem = parse(domain_text, problem_text)
    return {
        "objects": {(o.name, o.type) for o in (*domain.constants, *problem.objects)},
        "actions": {(a.name, *(p.name for p in a.parameters)) for a in domain.actions.values()},
        "facts": {ground(fact, {}) for fact in problem.init if fact.head not in ("=", "not")},
    }


def _theirs(domain: Path, problem: Path) -> Content:
    task = importlib.import_module("fast_downward.translate.pddl_parser").open(str(domain), str(problem))
    facts = (fact for fact in task.init if getattr(fact, "predicate", "=") != "=")
    return {
        "objects": {(o.name, o.type_name) for o in task.objects},
        "actions": {(a.name, *(p.name for p in a.parameters)) for a in task.actions},
        "facts": {(fact.predicate, *fact.args) for fact in facts},
    }
