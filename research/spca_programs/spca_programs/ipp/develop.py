"""From a task to a judged program: a strategy, refinement if wanted, then the test cases, once.

Refinement shows a program where it does worst, asks for a better one, and keeps the best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from spca_core.errors import BudgetExhausted
from spca_core.model import Record
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_programs.ipp.dialogue import prompt
from spca_programs.ipp.domain import Case, Domain
from spca_programs.ipp.program import CaseResult, Evaluation, Origin, Program, ProgramRunner
from spca_programs.ipp.strategies import STRATEGIES, Workshop
from spca_programs.options import Recipe

WORST = 3
NOTHING = "NOTHING TO IMPROVE"
"""The answer of a model that takes a program for the best there is."""
_BETTER = 1e-9


class Attempt(Record):
    """A program that was tried, its figures on the training cases, and whether it became the best."""

    program: Program
    train: Evaluation
    best: bool


def best_of(attempts: Sequence[Attempt]) -> Program:
    """The last program that became the best."""
    return [attempt for attempt in attempts if attempt.best][-1].program


def refine(
    shop: Workshop,
    first: Program,
    train: Sequence[Case],
    rounds: int = 10,
    patience: int = 1,
    on_attempt: Callable[[Attempt], None] = lambda attempt: None,
) -> tuple[list[Attempt], str]:
    """Improve a program for at most `rounds` rounds; returns all attempts, and why it ended, in words.

    It ends after `patience` rounds in a row without an improvement, where the score is what is possible, or
    when the model sees nothing to improve.

    The best program is never worse on the training cases than any that was tried. A model that fails ends
    the refinement, not the program.
    """
    best, figures = first, shop.runner.evaluate(first, shop.domain, train)
    attempts = [Attempt(program=best, train=figures.without_results(), best=True)]
    on_attempt(attempts[0])
    idle = 0
    for _ in range(rounds):
        if figures.mean >= figures.reference - _BETTER:
            return attempts, "the score is what is possible"
        question = prompt(
            "refine",
            domain=shop.domain,
            program=best,
            figures=figures,
            failures=[_explain(shop.domain, train, r) for r in worst_cases(figures.results)],
            last_try=attempts[-1] if not attempts[-1].best else None,
            nothing=NOTHING,
        )
        try:
            source = shop.write(shop.dialogue(), question, NOTHING)
        except (ModelError, BudgetExhausted) as error:
            return attempts, f"the model gave no further program: {error}"
        if not source:
            return attempts, "the model sees nothing to improve"
        candidate = shop.program(source, "refinement", best.id)
        tried = shop.runner.evaluate(candidate, shop.domain, train)
        improved = tried.mean > figures.mean + _BETTER
        attempts.append(Attempt(program=candidate, train=tried.without_results(), best=improved))
        on_attempt(attempts[-1])
        if improved:
            best, figures, idle = candidate, tried, 0
            continue
        idle += 1
        if idle >= patience:
            return attempts, f"{idle} {'round' if idle == 1 else 'rounds'} without improvement"
    return attempts, f"{rounds} rounds are over"


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


def judged(shop: Workshop, programs: Sequence[Program], train: Sequence[Case]) -> list[Attempt]:
    """The figures of several programs on the training cases."""
    attempts: list[Attempt] = []
    most = -math.inf
    for program in programs:
        figures = shop.runner.evaluate(program, shop.domain, train).without_results()
        attempts.append(Attempt(program=program, train=figures, best=figures.mean > most + _BETTER))
        most = figures.mean if attempts[-1].best else most
    return attempts


class Development(Record):
    """A program with its figures, all that was tried on the way, and what it took."""

    domain: str
    recipe: Recipe
    program: Program
    train: Evaluation
    test: Evaluation
    attempts: tuple[Attempt, ...]
    ended: str
    usage: Usage
    questions: int

    @property
    def usd_per_case(self) -> float:
        """Money for one case of the test, the program having been written for all of them."""
        return self.usage.usd / self.test.cases


def develop(
    domain: Domain[Case],
    model: ChatModel,
    recipe: Recipe,
    first: Program | None = None,
    on_attempt: Callable[[Attempt], None] = lambda attempt: None,
) -> Development:
    """Make a program by a recipe; with `first`, refine that one instead of writing new ones.

    Raises ModelError when the model never gave a usable program; later failures only end the work early.
    """
    train, test = domain.split(recipe.train, recipe.test, recipe.seed)
    with ProgramRunner(recipe.deadline_s) as runner:
        before = Origin(strategy="") if first is None else first.origin
        shop = Workshop(domain, model, runner, domain.show(train[0]), before)
        attempts: list[Attempt] = []
        ended = "the strategy is complete"
        program = first
        if program is None:
            written, ended = _write(shop, recipe.strategy)
            attempts = judged(shop, written, train)
            for attempt in attempts:
                on_attempt(attempt)
            program = best_of(attempts)
            spent = {"usage": shop.usage, "questions": shop.questions}
            program = program.model_copy(update={"origin": program.origin.model_copy(update=spent)})
        if recipe.refine:
            refined, ended = refine(shop, program, train, recipe.refine, recipe.patience, on_attempt)
            program = best_of(refined)
            attempts += refined[1:] if first is None else refined
        return Development(
            domain=domain.name,
            recipe=recipe,
            program=program,
            train=runner.evaluate(program, domain, train).without_results(),
            test=runner.evaluate(program, domain, test).without_results(),
            attempts=tuple(attempts),
            ended=ended,
            usage=shop.usage,
            questions=shop.questions,
        )


def _write(shop: Workshop, strategy: str) -> tuple[list[Program], str]:
    """The strategy's programs; a failure after the first one only cuts it short."""
    written: list[Program] = []
    try:
        for program in STRATEGIES[strategy](shop):
            written.append(program)
    except (ModelError, BudgetExhausted) as error:
        if not written:
            raise
        return written, f"the strategy was cut short: {error}"
    return written, "the strategy is complete"


def history_of(development: Development) -> str:
    """Describe how a program came about, in a few lines."""
    lines = [
        f"{number}. {'best so far' if a.best else 'not better'}: {a.train.mean:.3f} in training, "
        f"{a.train.problems} without a plan ({a.program.origin.strategy}, {a.program.id})"
        for number, a in enumerate(development.attempts, start=1)
    ]
    usage = development.usage
    lines.append(f"ended: {development.ended}")
    lines.append(
        f"test: {development.test.mean:.3f} ± {development.test.sd:.3f} over "
        f"{development.test.cases} cases, possible "
        f"{development.test.reference:.3f}{development.test.completed}"
    )
    lines.append(
        f"{development.questions} questions, {usage.input_tokens} + {usage.output_tokens} tokens, "
        f"{usage.cost}; {development.usd_per_case:.6f} a test case"
    )
    return "\n".join(lines)
