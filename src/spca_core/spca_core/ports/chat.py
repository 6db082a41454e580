"""Port: a language model that answers a conversation. Its answers are proposals, not decisions."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from spca_core.model import Record

Role = Literal["vision", "planner_big", "planner_small", "coder"]
"""Role of the model that is asked; each has its own base_url, model name and key in the configuration."""

Message = dict[str, Any]
"""Message in the form of the OpenAI API.

It has a `role` (system, user, assistant) and `content` (text or parts).
"""


class ChatUsage(Record):
    """Cost of one exchange: tokens, money by the price table, seconds of wall time."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0


class ChatReply(Record):
    """A model's answer: its text, and the same parsed by the schema that was asked for (None without one)."""

    text: str
    parsed: Any = None
    usage: ChatUsage = ChatUsage()
    model: str = ""


class ChatModel(Protocol):
    """Answers a conversation; handles retries, records and budgets internally."""

    def complete(
        self, role: Role, messages: Sequence[Message], schema: type[BaseModel] | None = None
    ) -> ChatReply:
        """Return the answer to a conversation; with a `schema`, its `parsed` is an instance of that.

        Raises ModelError (`spca_core.ports.proposer`) when the model refused, gave an unusable answer or
        could not be reached in time, BudgetExhausted when a limit of tokens, money or time of the level is
        used up, and InputError when the configuration is wrong (no such model, a rejected key, a request that
        a replay has no answer for).
        """
        ...


def system(text: str) -> Message:
    """Return the message that tells the model what it is and how it shall answer."""
    return {"role": "system", "content": text}


def user(text: str, *png: bytes) -> Message:
    """Return the message that asks the model something, with images (PNG files) where there are any."""
    if not png:
        return {"role": "user", "content": text}
    return {"role": "user", "content": [{"type": "text", "text": text}, *map(_image, png)]}


def _image(png: bytes) -> dict[str, object]:
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
