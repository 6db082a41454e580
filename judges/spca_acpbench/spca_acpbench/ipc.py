"""`spca bench ipc`: what the stack's reader makes of the competitions' PDDL, beside Fast Downward's."""

from __future__ import annotations

import ast
import importlib
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, ClassVar

from pydantic import Field

from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import PageTable
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.validation import expecting, plain
from spca_planner.pddl.formula import ground
from spca_planner.pddl.lint import parse
from spca_planner.pddl.sexpr import PddlError
from spca_planner.solver.judgement import Case, Words
from spca_planner.solver.process import warm_solver
from spca_planner.solver.reading import read
from spca_planner.solver.validation import why_invalid

_PLAN_SECONDS, _LONGEST_PLAN = 3.0, 60
"""Of processor time for a plan to be judged beside VAL, and its most steps."""
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
    """Outcome of one pair. `same`: whether Fast Downward's reader finds the same, or refuses it, too.

    `verdicts` are of the stack's validators on plans; `equal`, those that VAL shares.
    """

    outcome: str
    same: bool
    why: str = ""
    verdicts: int | None = None
    equal: int | None = None


class IpcBench(Bench[PairTrial, PairResult]):
    """`each` problems of every domain of the set, evenly spread."""

    name = "ipc"
    result_type: ClassVar[type[Record]] = PairResult

    domains: Path
    each: int = Field(4, ge=1)
    val: Path | None = None
    """VAL's `Validate`, to compare verdicts with."""

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; the same wherever VAL lies."""
        return {**super().identity(), "val": self.val and self.val.name}

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
        result = PairResult(outcome=_OUTCOMES[0], same=not differ, why=why or ", ".join(differ))
        return result if self.val is None else result.model_copy(update=_beside_val(self.val, *paths))

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
            row = (outcome, len(own), len(domains), sum(d.result.same for d in own))
            judged = [d.result for d in own if d.result.verdicts is not None]
            counts = (sum(r.verdicts or 0 for r in judged), sum(r.equal or 0 for r in judged))
            rows.append((*row, *(counts if judged else (None, None))))
        heads = ("outcome", "problems", "domains", "the same by Fast Downward's reader")
        return PageTable((*heads, "verdicts on plans", "the same by VAL"), rows).filled()


@lru_cache(maxsize=1)
def pairs_in(folder: Path) -> list[list[tuple[str, str]]]:
    """The pairs of each domain whose files are there, as the set's own tables say. Raises InputError."""
    listed = []
    for path in sorted(folder.glob("classical/*/api.py")):
        with expecting("a table of domains", path):
            table = ast.literal_eval(plain(path).read_text(encoding="utf-8").partition("=")[2].strip())
            some = [(str(a), str(b)) for one in table for a, b in one["problems"]]
            listed.append([p for p in some if all((path.parents[1] / name).is_file() for name in p)])
    if not listed:
        raise InputError("holds no domains", where=str(folder), hint="a checkout of classical-domains")
    return listed


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


def _beside_val(val: Path, domain: Path, problem: Path) -> dict[str, Any]:
    """Verdicts on a plan, and on what is left of it without its first, middle or last step."""
    texts = [path.read_text(encoding="latin-1") for path in (domain, problem)]
    case = Case(domain=texts[0], problem=texts[1], timeout_s=_PLAN_SECONDS, greedy="relaxation")
    steps = warm_solver().judge(case).steps
    if not 0 < len(steps) <= _LONGEST_PLAN:
        return {"why": f"no plan of at most {_LONGEST_PLAN} steps in {_PLAN_SECONDS:g} s"}
    try:
        task = read(*texts)
    except PddlError as error:
        return {"why": str(error)}
    plans = [steps, *(steps[:k] + steps[k + 1 :] for k in sorted({0, len(steps) // 2, len(steps) - 1}))]
    other = [
        plan for plan in plans if _valid_by_val(val, domain, problem, plan) == bool(why_invalid(task, plan))
    ]
    why = "; ".join(f"{len(plan)} of {len(steps)} steps: VAL disagrees" for plan in other)
    return {"verdicts": len(plans), "equal": len(plans) - len(other), "why": why}


def _valid_by_val(val: Path, domain: Path, problem: Path, plan: Sequence[Words]) -> bool:
    with NamedTemporaryFile("w", suffix=".plan") as file:
        file.write("".join(f"({' '.join(step)})\n" for step in plan))
        file.flush()
        command = [str(val), str(domain), str(problem), file.name]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        return "Plan valid" in done.stdout
