"""Three ways to get a first program out of a language model.

Refinement, the fourth strategy, continues from any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from spca_core.errors import InputError
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_programs.ipp.dialogue import Dialogue, prompt
from spca_programs.ipp.domain import Domain
from spca_programs.ipp.program import Origin, Program, ProgramRunner, code_in

REPAIRS = 3
"""How often a program that does not load is sent back."""


class Workshop:
    """Tools that a strategy works with. `sample` is one case in words and as a picture."""

    def __init__(
        self, domain: Domain[Any], model: ChatModel, runner: ProgramRunner, sample: str, before: Origin
    ) -> None:
        """What has been spent `before` counts as well."""
        self.domain, self.runner, self.sample = domain, runner, sample
        self._model, self._before = model, before
        self._dialogues: list[Dialogue] = []

    @property
    def usage(self) -> Usage:
        """All that was spent."""
        return sum((d.usage for d in self._dialogues), self._before.usage)

    @property
    def questions(self) -> int:
        """Number of all questions."""
        return self._before.questions + sum(d.questions for d in self._dialogues)

    def dialogue(self) -> Dialogue:
        """A new conversation about the task."""
        self._dialogues.append(Dialogue(self._model, prompt("system", domain=self.domain)))
        return self._dialogues[-1]

    def program(self, source: str, strategy: str, parent: str = "") -> Program:
        """The program of the last conversation."""
        model = self._dialogues[-1].model_name
        return Program(
            source=source,
            origin=Origin(
                strategy=strategy, model=model, parent=parent, usage=self.usage, questions=self.questions
            ),
        )

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


def _from_pseudocode(name: str, template: str, shop: Workshop) -> Iterator[Program]:
    """A question for pseudocode, then code."""
    dialogue = shop.dialogue()
    dialogue.ask(prompt(template, domain=shop.domain, sample=shop.sample))
    yield shop.program(shop.write(dialogue, prompt("code", domain=shop.domain)), name)


def _step_by_step(shop: Workshop) -> Iterator[Program]:
    """One conversation in which the task grows step by step, with a program at each stage."""
    dialogue = shop.dialogue()
    for number, stage in enumerate(shop.domain.stages):
        text = prompt("stage", domain=shop.domain, sample=shop.sample, stage=stage, first=number == 0)
        yield shop.program(shop.write(dialogue, text), "steps")


STRATEGIES: dict[str, Strategy] = {
    "direct": partial(_from_pseudocode, "direct", "pseudocode"),
    "pseudocode": partial(_from_pseudocode, "pseudocode", "extend"),
    "steps": _step_by_step,
}
"""From the rules and a sample; from the pseudocode of a simple greedy program, too; and stage by stage."""
