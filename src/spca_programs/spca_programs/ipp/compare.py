"""Programs side by side on the same cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spca_bench.page import Page
from spca_core.model import Record
from spca_programs.ipp.develop import Development
from spca_programs.ipp.domain import Case, Domain
from spca_programs.ipp.program import Evaluation, Program, ProgramRunner

HEADS = (
    "program",
    "made by",
    "mean score",
    "sd",
    "possible",
    "completed %",
    "no plan",
    "ms a case",
    "US dollars",
    "tokens",
)


class Compared(Record):
    """A program and its figures; `name` is its id, or the file it came from."""

    name: str
    program: Program
    evaluation: Evaluation

    def row(self) -> tuple[object, ...]:
        """As a row under HEADS."""
        figures, origin = self.evaluation, self.program.origin
        made_by = " ".join(part for part in (origin.strategy, origin.model) if part)
        tokens = origin.usage.input_tokens + origin.usage.output_tokens
        return (
            self.name,
            made_by,
            round(figures.mean, 3),
            figures.sd,
            round(figures.reference, 3),
            100 * figures.completion,
            figures.problems,
            1000 * figures.seconds,
            f"{origin.usage.cost_usd:.4f}",
            tokens,
        )


def compare(
    domain: Domain[Case],
    programs: Sequence[tuple[str, Program]],
    cases: Sequence[Case],
    deadline_s: float = 2.0,
) -> list[Compared]:
    """Run every program on every case; the best comes first."""
    with ProgramRunner(deadline_s) as runner:
        found = [
            Compared(
                name=name,
                program=program,
                evaluation=runner.evaluate(program, domain, cases).without_results(),
            )
            for name, program in programs
        ]
    return sorted(found, key=lambda c: -c.evaluation.mean)


def write_page(domain: str, compared: Sequence[Compared], path: Path) -> Path:
    """A report with the figures and the programs themselves."""
    cases = compared[0].evaluation.cases if compared else 0
    page = Page(f"Programs for {domain}", f"{len(compared)} programs on the same {cases} cases")
    page.table(HEADS, [c.row() for c in compared])
    for one in compared:
        page.listing(one.name, one.program.source)
    return page.write(path)


def history_of(development: Development) -> str:
    """How a program came about, in a few lines."""
    lines = [
        f"{number}. {'best so far' if a.best else 'not better'}: {a.train.mean:.3f} in training, "
        f"{a.train.problems} without a plan ({a.program.origin.strategy}, {a.program.id})"
        for number, a in enumerate(development.attempts, start=1)
    ]
    usage = development.usage
    lines.append(f"ended: {development.ended}")
    lines.append(
        f"test: {development.test.mean:.3f} ± {development.test.sd:.3f} over {development.test.cases} cases, possible "
        f"{development.test.reference:.3f}, completed {100 * development.test.completion:.1f} %"
    )
    lines.append(
        f"{development.questions} questions, {usage.input_tokens} + {usage.output_tokens} tokens, "
        f"{usage.cost_usd:.4f} US dollars; {development.usd_per_case:.6f} a test case"
    )
    return "\n".join(lines)
