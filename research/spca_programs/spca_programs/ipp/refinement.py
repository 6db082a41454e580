"""Iterative refinement: show a program where it does worst, request a better one, and keep the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spca_core.errors import BudgetExhausted
from spca_core.model import Record
from spca_core.ports.chat import ChatUsage
from spca_core.ports.proposer import ModelError
from spca_programs.ipp.dialogue import add_usage, prompt
from spca_programs.ipp.domain import Case, Domain
from spca_programs.ipp.program import CaseResult, Evaluation, Origin, Program
from spca_programs.ipp.strategies import Workshop

WORST = 3
NOTHING = "NOTHING TO IMPROVE"
"""The answer of a model that takes a program for the best there is."""
_BETTER = 1e-9


class Attempt(Record):
    """A program that was tried, its figures on the training cases, and whether it became the best."""

    program: Program
    train: Evaluation
    best: bool


class Refined(Record):
    """The best program, with everything that was tried, in order."""

    program: Program
    attempts: tuple[Attempt, ...]
    ended: str
    """Why it ended, in words."""
    usage: ChatUsage
    """All that was spent, the first program's making included."""
    questions: int


def refine(
    shop: Workshop,
    first: Program,
    train: Sequence[Case],
    rounds: int = 10,
    patience: int = 1,
    on_attempt: Callable[[Attempt], None] = lambda attempt: None,
) -> Refined:
    """Improve a program for at most `rounds` rounds.

    It ends after `patience` rounds in a row without an improvement, where the score is what is possible, or
    when the model sees nothing to improve.

    The program returned is never worse on the training cases than any that was tried. A model that fails ends
    the refinement, not the program.
    """
    best, figures = first, shop.runner.evaluate(first, shop.domain, train)
    attempts = [Attempt(program=best, train=figures.without_results(), best=True)]
    on_attempt(attempts[0])
    idle, ended = 0, f"{rounds} rounds are over"
    spent, questions = first.origin.usage, first.origin.questions
    for _ in range(rounds):
        if figures.mean >= figures.reference - _BETTER:
            ended = "the score is what is possible"
            break
        last_try = attempts[-1] if not attempts[-1].best else None
        dialogue = shop.dialogue()
        question = prompt(
            "refine",
            domain=shop.domain,
            program=best,
            figures=figures,
            failures=[_explain(shop.domain, train, r) for r in worst_cases(figures.results)],
            last_try=last_try,
            nothing=NOTHING,
        )
        source, problem = "", ""
        try:
            source = shop.write(dialogue, question, NOTHING)
            problem = "" if source else "the model sees nothing to improve"
        except (ModelError, BudgetExhausted) as error:
            problem = f"the model gave no further program: {error}"
        spent, questions = add_usage(spent, dialogue.usage), questions + dialogue.questions
        if problem:
            ended = problem
            break
        origin = Origin(
            strategy="refinement", model=dialogue.model_name, parent=best.id, usage=spent, questions=questions
        )
        candidate = Program(source=source, origin=origin)
        tried = shop.runner.evaluate(candidate, shop.domain, train)
        improved = tried.mean > figures.mean + _BETTER
        attempts.append(Attempt(program=candidate, train=tried.without_results(), best=improved))
        on_attempt(attempts[-1])
        if improved:
            best, figures, idle = candidate, tried, 0
            continue
        idle += 1
        if idle >= patience:
            ended = f"{idle} {'round' if idle == 1 else 'rounds'} without improvement"
            break
    return Refined(
        program=best,
        attempts=tuple(attempts),
        ended=ended,
        usage=spent,
        questions=questions,
    )


def worst_cases(results: Sequence[CaseResult], count: int = WORST) -> list[CaseResult]:
    """The cases furthest behind what is possible.

    Different exceptions come first, because they are the most informative.
    """
    behind = sorted(results, key=lambda r: r.score - r.reference)
    seen: set[str] = set()
    chosen = []
    for result in behind:
        if result.answer.problem and result.answer.problem not in seen:
            seen.add(result.answer.problem)
            chosen.append(result)
    rest = [r for r in behind if r not in chosen and not r.answer.problem and r.score < r.reference]
    return [*chosen, *rest][:count]


def _explain(domain: Domain[Case], cases: Sequence[Case], result: CaseResult) -> dict[str, object]:
    case = next(c for c in cases if domain.name_of(c) == result.case)
    return {
        "picture": domain.show(case),
        "result": result,
        "trace": domain.judge(case, result.answer.plan).trace,
    }


def best_of(
    shop: Workshop, programs: Sequence[Program], train: Sequence[Case]
) -> tuple[Program, list[Attempt]]:
    """The best of several programs on the training cases, and the figures of all."""
    attempts: list[Attempt] = []
    best: Attempt | None = None
    for program in programs:
        figures = shop.runner.evaluate(program, shop.domain, train).without_results()
        better = best is None or figures.mean > best.train.mean + _BETTER
        attempts.append(Attempt(program=program, train=figures, best=better))
        best = attempts[-1] if better else best
    if best is None:
        raise ModelError("the model wrote no program")
    return best.program, attempts
