"""From a task to a judged program: a strategy, refinement if wanted, then the test cases, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from spca_core.errors import BudgetExhausted
from spca_core.model import Record
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_programs.ipp.domain import Case, Domain
from spca_programs.ipp.program import Evaluation, Origin, Program, ProgramRunner
from spca_programs.ipp.refinement import Attempt, best_of, judged, refine
from spca_programs.ipp.strategies import STRATEGIES, Workshop


class Recipe(Record):
    """Recipe for making a program.

    `strategy` writes the first ones; `refine` is the most rounds of refinement after it.
    """

    strategy: Literal["direct", "pseudocode", "steps"] = "direct"
    refine: int = Field(0, ge=0)
    patience: int = Field(1, ge=1)
    train: int = Field(160, ge=1)
    test: int = Field(1600, ge=1)
    seed: int = 0
    deadline_s: float = Field(2.0, gt=0)
    """Wall time of the program for one case."""


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
        f"{usage.usd:.4f} US dollars; {development.usd_per_case:.6f} a test case"
    )
    return "\n".join(lines)
