"""Baselines without a program: the model plans for each instance by itself.

Each instance costs a question or two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from spca_core.ports.chat import ChatModel, Role
from spca_core.ports.proposer import ModelError
from spca_core.result import Usage
from spca_programs.ipp.dialogue import Dialogue, prompt
from spca_programs.ipp.domain import Answer, Case, Domain

ROLE: Role = "planner_big"
_SYSTEM = "You plan actions in a small grid world, carefully, and answer in the form that is asked for."
_MARK = re.compile(r"ACTIONS\s*:(.*)", re.IGNORECASE)
_LIST = re.compile(r"\[([^\[\]]*)\]")
_SEPARATORS = re.compile(r"[\s,;\[\]\"'`*]+")


def _at_once(template: str, domain: Domain[Case], case: Case, dialogue: Dialogue) -> list[str]:
    """One question for the whole plan, with room to think or without."""
    return actions_in(dialogue.ask(prompt(template, domain=domain, picture=domain.show(case))))


def _two_step(domain: Domain[Case], case: Case, dialogue: Dialogue) -> list[str]:
    """One question for the first part, and one, with the state in view that it leads to, for the whole."""
    first = _at_once("halfway", domain, case, dialogue)
    return actions_in(dialogue.ask(prompt("whole", first=first, picture=domain.after(case, first))))


METHODS: dict[str, Callable[..., list[str]]] = {
    "zero-shot": partial(_at_once, "plan"),
    "chain-of-thought": partial(_at_once, "think"),
    "two-step": _two_step,
}


def plans_of(
    method: str, domain: Domain[Case], model: ChatModel, cases: Sequence[Case]
) -> tuple[list[Answer], Usage]:
    """A model's plan for every case by a method, and what they took.

    A failing answer costs its case; BudgetExhausted is passed on.
    """
    usage, answers = Usage(), []
    for case in cases:
        dialogue = Dialogue(model, _SYSTEM, ROLE)
        try:
            answers.append(
                Answer(plan=tuple(METHODS[method](domain, case, dialogue)), seconds=dialogue.usage.seconds)
            )
        except ModelError as error:
            answers.append(Answer(problem=f"model: {error}", seconds=dialogue.usage.seconds))
        usage = usage + dialogue.usage
    return answers, usage


def actions_in(text: str) -> list[str]:
    r"""The names in the last line that begins with ACTIONS, or else in the last list in brackets.

    Raises ModelError when there is neither.

    >>> actions_in("First right.\n**ACTIONS:** `RIGHT`, TAKE"), actions_in("It is [RIGHT, TAKE].")
    (['RIGHT', 'TAKE'], ['RIGHT', 'TAKE'])
    """
    lines = _MARK.findall(text) or _LIST.findall(text)
    if not lines:
        raise ModelError("the answer has no line that begins with ACTIONS:, and no list in brackets")
    return [name.upper() for name in _SEPARATORS.split(lines[-1]) if name]
