"""Three ways to get a first program out of a language model.

Refinement, the fourth strategy, continues from any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spca_core.errors import InputError
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_programs.ipp.dialogue import Dialogue, prompt
from spca_programs.ipp.domain import Domain
from spca_programs.ipp.program import Origin, Program, ProgramRunner, code_in

REPAIRS = 3
"""How often a program that does not load is sent back."""


@dataclass
class Workshop:
    """Tools that a strategy works with. `sample` is one case in words and as a picture."""

    domain: Domain
    model: ChatModel
    runner: ProgramRunner
    sample: str

    def dialogue(self) -> Dialogue:
        """A new conversation about the task."""
        return Dialogue(self.model, prompt("system", domain=self.domain))

    def write(self, dialogue: Dialogue, text: str, refusal: str = "") -> str:
        """Ask for a program until it loads; empty if the answer is `refusal`, where one is allowed.

        Raises ModelError when no program loads.
        """
        answer = dialogue.ask(text)
        if refusal and refusal in answer.upper() and "```" not in answer:
            return ""
        return loadable(dialogue, answer, self.runner, self.domain.signature)


def loadable(dialogue: Dialogue, answer: str, runner: ProgramRunner, signature: str) -> str:
    """Return the program in an answer, sent back for repair until it loads.

    Raises ModelError when none does, BudgetExhausted.
    """
    for left in reversed(range(REPAIRS + 1)):
        try:
            source = code_in(answer, runner.function)
            problem = runner.load(source, signature)
        except InputError as error:
            problem = str(error)
        else:
            if not problem:
                return source
        if left:
            answer = dialogue.ask(prompt("repair", signature=signature, problem=problem))
    raise ModelError(f"no usable program after {REPAIRS} repairs: {problem}")


Strategy = Callable[[Workshop], Iterator[Program]]
"""Yields programs as they are written; the caller keeps the best."""


def direct(shop: Workshop) -> Iterator[Program]:
    """The rules and a sample, then pseudocode, then code."""
    yield _from_pseudocode(shop, "direct", prompt("pseudocode", domain=shop.domain, sample=shop.sample))


def pseudocode_extension(shop: Workshop) -> Iterator[Program]:
    """The same, but beginning with the pseudocode of a simple greedy program."""
    yield _from_pseudocode(shop, "pseudocode", prompt("extend", domain=shop.domain, sample=shop.sample))


def step_by_step(shop: Workshop) -> Iterator[Program]:
    """One conversation in which the task grows step by step, with a program at each stage."""
    dialogue = shop.dialogue()
    for number, stage in enumerate(shop.domain.stages):
        text = prompt("stage", domain=shop.domain, sample=shop.sample, stage=stage, first=number == 0)
        yield _made(shop.write(dialogue, text), "steps", dialogue)


STRATEGIES: dict[str, Strategy] = {
    "direct": direct,
    "pseudocode": pseudocode_extension,
    "steps": step_by_step,
}


def _from_pseudocode(shop: Workshop, strategy: str, question: str) -> Program:
    dialogue = shop.dialogue()
    dialogue.ask(question)
    return _made(shop.write(dialogue, prompt("code", domain=shop.domain)), strategy, dialogue)


def _made(source: str, strategy: str, dialogue: Dialogue) -> Program:
    origin = Origin(
        strategy=strategy, model=dialogue.model_name, usage=dialogue.usage, questions=dialogue.questions
    )
    return Program(source=source, origin=origin)
