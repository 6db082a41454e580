"""A conversation with a chat model that keeps count of what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spca_core.options import REPLAY
from spca_core.ports.chat import ChatModel, Message, Role
from spca_core.prompting import prompts
from spca_core.result import Usage
from spca_llm.chat import Chat, open_chat
from spca_llm.config import load_config

ROLE: Role = "coder"


class Dialogue:
    """Questions and answers, each question seeing all that came before."""

    def __init__(self, model: ChatModel, system: str, role: Role = ROLE) -> None:
        self._model, self._role = model, role
        self._messages: list[Message] = [{"role": "system", "content": system}]
        self.usage = Usage()
        self.questions = 0
        self.model_name = ""

    def ask(self, text: str) -> str:
        """The model's answer in text. Raises ModelError, BudgetExhausted."""
        self._messages.append({"role": "user", "content": text})
        reply = self._model.complete(self._role, self._messages)
        self._messages.append({"role": "assistant", "content": reply.text})
        self.usage = self.usage + reply.usage
        self.questions += 1
        self.model_name = reply.model or self.model_name
        return reply.text


def reach(llm: str, roles: Sequence[Role] = (ROLE,)) -> None:
    """Raises InputError unless a model can be asked in these roles; nothing is left on disk."""
    with TemporaryDirectory() as nothing:
        open_chat(llm, Path(nothing)).preflight(roles)


def open_writer(llm: str, folder: Path, temperature: float, asked: Role = ROLE) -> Chat:
    """The model of a role, by default what writes programs, at a temperature; a record has its own."""
    if llm.startswith(REPLAY):
        return open_chat(llm, folder)
    config = load_config(Path(llm) if llm else None)
    role = config.role(asked).model_copy(update={"temperature": temperature})
    return open_chat("", folder, config.model_copy(update={"roles": {**config.roles, asked: role}}))


def prompt(name: str, **values: Any) -> str:
    """A prompt from `prompts/<name>.md.j2`."""
    return render("spca_programs.ipp", name, **values)


def render(package: str, name: str, **values: Any) -> str:
    """A prompt from a package's `prompts/<name>.md.j2`."""
    return prompts(package).get_template(f"{name}.md.j2").render(**values).strip()
