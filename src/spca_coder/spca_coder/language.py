"""Skills written by a language model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from spca_coder.source import header
from spca_core.errors import one_line
from spca_core.plan import Schemas
from spca_core.ports.chat import ChatModel, Message
from spca_core.ports.proposer import ModelError, PlanAtFault
from spca_core.prompting import PYTHON, fenced, prompts, system, user
from spca_core.skill import CtxApi

_LONGEST_REASON = 400


def described(api: CtxApi) -> str:
    """Return what a skill may use, as it is told to a model: calls, values, helpers, in Markdown."""
    return prompts("spca_coder").get_template("api.j2").render(api=api)


class LanguageCoder:
    """Implements the port `CodeProposer` with a chat model in the role `coder`."""

    name = "openai"
    longest: ClassVar[Mapping[str, int]] = {
        "pddl": 3000, "relevant": 16_000, "situation": 6000, "previous": 12_000, "rejection": 2500,
    }  # fmt: skip
    """Maximum number of characters of each part of the prompt, whatever the library and the history."""

    def __init__(self, chat: ChatModel) -> None:
        self.chat = chat

    def write(
        self, missing: Schemas, api: CtxApi, relevant: str, situation: str, previous: str, rejection: str
    ) -> str:
        """Return the functions as source text. Raises PlanAtFault; ModelError when there is no function."""
        asked = self.messages(missing, api, relevant, situation, previous, rejection)
        return code_in(self.chat.complete("coder", asked).text)

    def messages(
        self, missing: Schemas, api: CtxApi, relevant: str, situation: str, previous: str, rejection: str
    ) -> list[Message]:
        """Return the conversation that is sent."""
        actions = [{"header": header(s), "pddl": self._clip("pddl", s.pddl.strip())} for s in missing]
        generators = any(m.name == "step" for m in api.methods)
        rules = prompts("spca_coder").get_template("coder_system.j2").render(api=api, generators=generators)
        told = {"relevant": relevant, "situation": situation, "previous": previous, "rejection": rejection}
        parts = {part: self._clip(part, text) for part, text in told.items()}
        question = prompts("spca_coder").get_template("coder_request.j2").render(actions=actions, **parts)
        return [system(rules), user(question)]

    def _clip(self, part: str, text: str) -> str:
        limit = self.longest[part]
        return text if len(text) <= limit else text[:limit] + "\n(shortened)"


def code_in(answer: str) -> str:
    """Return the Python in an answer: its fenced blocks, or the whole if it has none.

    Raises ModelError (kind `empty` or `invalid`) when there is no function in it, PlanAtFault when it says
    instead what is wrong with the plan.
    """
    if not answer.strip():
        raise ModelError("the answer is empty", kind="empty")
    blocks = fenced(answer, PYTHON) or [answer.replace("\r\n", "\n")]
    code = "\n\n".join(b.strip("\n") for b in blocks)
    if not re.search(r"^def\s+\w+", code, re.MULTILINE):
        if said := re.search(r"^[^\w\n]*PLAN:\W*(.*)", answer, re.MULTILINE | re.DOTALL):
            raise PlanAtFault(one_line(said[1])[:_LONGEST_REASON])
        raise ModelError("the answer holds no Python function", kind="invalid")
    return code + "\n"
