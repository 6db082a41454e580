"""Programs that plan: loading, calling and judging them. They are untrusted and run in the sandbox only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

from spca_benchmarks.campaigns.statistics import Mean
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.prompting import PYTHON, fenced
from spca_core.result import Usage
from spca_core.skill import SkillFailure
from spca_core.stopping import Closing
from spca_programs.ipp.domain import Answer, Case, Domain
from spca_sandbox.host import SkillHost
from spca_sandbox.limits import PROGRAM_MODULES, Limits

FUNCTION = "solve"
_LONGEST_PLAN = 10_000


class Origin(Record):
    """Origin of a program: strategy, model, and the number of questions that led to it."""

    strategy: str
    model: str = ""
    parent: str = ""
    usage: Usage = Usage()
    questions: int = 0


class Program(Record):
    """Source text with a function `solve`."""

    source: str
    origin: Origin = Origin(strategy="hand-written")

    @property
    def id(self) -> str:
        """Equal for equal source."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:12]


class CaseResult(Record):
    """A judged answer; `reference` is what the domain knows to be possible."""

    case: str
    score: float
    completed: bool
    reference: float
    answer: Answer


class Evaluation(Record):
    """A program over a set of cases."""

    cases: int
    mean: float
    sd: float
    completion: float | None
    """Share of cases completed, 0-1; None for a task without a goal to be reached."""
    reference: float
    """Mean of the references."""
    problems: int
    """Cases without a plan."""
    seconds: float
    """Mean wall time of a call."""
    results: tuple[CaseResult, ...] = ()

    @property
    def completed(self) -> str:
        """The share completed as the end of a sentence; empty where there is no goal."""
        return "" if self.completion is None else f", completed {100 * self.completion:.1f} %"

    def without_results(self) -> Evaluation:
        """The figures alone."""
        return self.model_copy(update={"results": ()})


class ProgramRunner(Closing):
    """Calls programs in the sandbox, by their `function`. Use as a context manager, or `close` it."""

    def __init__(self, deadline_s: float = 2.0, function: str = FUNCTION) -> None:
        self._deadline_s, self.function = deadline_s, function
        self._host = SkillHost(limits=Limits(modules=PROGRAM_MODULES, memory_mb=512))

    def close(self) -> None:
        """End the sandbox."""
        self._host.close()

    def load(self, source: str, signature: str) -> str:
        """Load a program; returns what is wrong with it, empty if nothing is."""
        loaded = self._host.load(source)
        if isinstance(loaded, SkillFailure):
            return in_words(loaded)
        if self.function not in loaded:
            return f"there is no top-level function `{self.function}`"
        wanted = len(signature.partition("(")[2].rstrip(")").split(","))
        parameters = loaded[self.function]
        if len(parameters) != wanted:
            return f"`{self.function}` takes {', '.join(parameters) or 'nothing'}; it must be `{signature}`"
        return ""

    def answer(self, batch: Sequence[Sequence[Any]], deadline_s: float | None = None) -> list[Answer]:
        """Call the loaded program once per list of arguments.

        Each call has the runner's deadline, unless another one is given.
        """
        outcomes = self._host.call_many(self.function, batch, deadline_s or self._deadline_s)
        answers = []
        for outcome in outcomes:
            if outcome.failure is not None:
                answers.append(Answer(problem=in_words(outcome.failure), seconds=outcome.seconds))
                continue
            problem = _not_a_plan(outcome.value, self.function)
            plan = () if problem else tuple(outcome.value[:_LONGEST_PLAN])
            answers.append(Answer(plan=plan, problem=problem, seconds=outcome.seconds))
        return answers

    def evaluate(self, program: Program, domain: Domain[Case], cases: Sequence[Case]) -> Evaluation:
        """Run a program on every case and judge its answers.

        A program that does not load answers nothing.
        """
        if problem := self.load(program.source, domain.signature):
            answers = [Answer(problem=problem) for _ in cases]
        else:
            answers = self.answer([domain.arguments(case) for case in cases])
        return judge_answers(domain, cases, answers)


def judge_answers(domain: Domain[Case], cases: Sequence[Case], answers: Sequence[Answer]) -> Evaluation:
    """Scores of answers of any origin."""
    results = []
    for case, answer in zip(cases, answers, strict=True):
        judged = domain.judge(case, answer.plan)
        results.append(
            CaseResult(
                case=domain.name_of(case),
                score=judged.score,
                completed=judged.completed,
                reference=domain.reference(case),
                answer=answer,
            )
        )
    scores = Mean.of([r.score for r in results])
    return Evaluation(
        cases=len(results),
        mean=scores.value,
        sd=scores.sd,
        completion=sum(r.completed for r in results) / len(results) if domain.has_goal else None,
        reference=Mean.of([r.reference for r in results]).value,
        problems=sum(bool(r.answer.problem) for r in results),
        seconds=sum(r.answer.seconds for r in results) / len(results),
        results=tuple(results),
    )


def code_in(text: str, function: str = FUNCTION) -> str:
    """The Python source in a model's answer: its last fenced block, or all of it.

    InputError when there is none.
    """
    if blocks := fenced(text, PYTHON):
        return ([block for block in blocks if f"def {function}" in block] or blocks)[-1]
    if f"def {function}" in text:
        return text
    raise InputError(
        "the answer holds no Python code", hint="one fenced block with the whole program is needed"
    )


def in_words(failure: SkillFailure, before: int = 0) -> str:
    """A failure in one line; `before` lines of the source are not the program's own."""
    line = (failure.line or 0) - before
    return f"{failure.kind}: {failure.message}" + (f" (line {line})" if line > 0 else "")


def _not_a_plan(value: Any, function: str) -> str:
    if not isinstance(value, list):
        return f"result: `{function}` returned {_kind(value)}, not a list of action names"
    strange = next((item for item in value if not isinstance(item, str)), None)
    return "" if strange is None else f"result: the list holds {_kind(strange)}, not only action names"


def _kind(value: Any) -> Literal["nothing"] | str:
    return "nothing" if value is None else f"a {type(value).__name__}"
