"""`spca bench acpbench`: every question of the test set, answered without a model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from spca_acpbench.answers import Answerer
from spca_acpbench.questions import KINDS, load
from spca_acpbench.scoring import score
from spca_benchmarks.campaigns.bench import Bench, Done
from spca_benchmarks.campaigns.page import Page, PageTable
from spca_benchmarks.campaigns.statistics import Rate, groups
from spca_core.model import Record


class QuestionTrial(Record):
    """One question, by its key."""

    question: str

    @property
    def key(self) -> str:
        """Its name within the bench."""
        return self.question


class AnswerResult(Record):
    """An answer with its two scores (see `scoring`); seconds of processor time without the engine's."""

    answer: str
    evaluator: bool
    proven: bool
    why: str
    seconds: float


Trials = Sequence[Done[QuestionTrial, AnswerResult]]


class AcpBench(Bench[QuestionTrial, AnswerResult]):
    """Bench over the questions of the `kinds`, or over every `every`-th of them."""

    name = "acpbench"
    title: ClassVar[str] = "ACPBench-Hard"
    result_type: ClassVar[type[Record]] = AnswerResult

    questions: Path
    kinds: tuple[str, ...] = tuple(KINDS)
    every: int = 1

    def identity(self) -> Mapping[str, Any]:
        """See `Bench`; the same wherever the questions lie."""
        return {**super().identity(), "questions": self.questions.name}

    def prepare(self, folder: Path) -> None:
        """See `Bench`."""
        load(self.questions)

    def trials(self) -> list[QuestionTrial]:
        """See `Bench`."""
        asked = [key for key, q in load(self.questions).items() if q.kind in self.kinds]
        return [QuestionTrial(question=key) for key in asked[:: self.every]]

    def run_trial(self, trial: QuestionTrial, folder: Path) -> AnswerResult:
        """See `Bench`."""
        question = load(self.questions)[trial.question]
        began = time.process_time()
        answer = _answerer().answer(question)
        seconds = time.process_time() - began
        found = score(question, answer, _answerer())
        return AnswerResult(answer=_shown(answer), seconds=seconds, **found.model_dump())

    def success(self, result: AnswerResult) -> bool | None:
        """See `Bench`."""
        return result.evaluator

    def remark(self, done: Done[QuestionTrial, AnswerResult]) -> str:
        """See `Bench`."""
        return done.result.why or ("" if done.result.evaluator else f"answered {done.result.answer[:100]}")

    def table(self, done: Trials) -> PageTable:
        """By kind of question: right by the evaluator's rule, and by proof."""
        heads = ("kind", "questions", "evaluator", "95 % interval", "proven", "median s")
        rows = [
            _row(KINDS[kind], own) for kind, own in groups(done, lambda d: d.trial.key.split("/")[0]).items()
        ]
        return PageTable(heads, [*rows, _row("all", done)])

    def report(self, done: Trials, page: Page) -> None:
        """See `Bench`."""
        page.text(
            "The answers are the stack's: its PDDL reader, its semantics, and Fast Downward; no model is "
            "asked. The evaluator's score follows the data set's own rule; proven is what a search of the "
            "engine or the semantics confirm. “None” counts as proven where the data set says it, too."
        )
        page.heading("Not right by both")
        odd = [d for d in done if not (d.result.evaluator and d.result.proven)]
        page.table(
            ("question", "answer", "why"), [(d.trial.key, d.result.answer[:120], self.remark(d)) for d in odd]
        )


def _row(kind: str, done: Trials) -> tuple[object, ...]:
    results = [d.result for d in done]
    rate = Rate.of(r.evaluator for r in results)
    seconds = sorted(r.seconds for r in results)
    proven = Rate.of(r.proven for r in results)
    return kind, len(results), str(rate), rate.percent_interval, str(proven), seconds[len(seconds) // 2]


def _shown(answer: Any) -> str:
    if isinstance(answer, tuple):
        return f"({' '.join(answer)})"
    if isinstance(answer, list):
        return " ".join(map(_shown, answer))
    if isinstance(answer, dict):
        return "; ".join(f"{name}: {_shown(value)}" for name, value in answer.items())
    return "none" if answer is None else str(answer)


@lru_cache(maxsize=1)
def _answerer() -> Answerer:
    return Answerer()
