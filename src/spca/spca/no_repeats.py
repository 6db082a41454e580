"""A language model that is not asked again what it has answered in this run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel

from spca_core.ports.chat import ChatModel, ChatReply, Message, Role
from spca_core.ports.proposer import ModelError

_MOST_ANSWERS = 2
"""Answers to one request, unusable ones, after which it is not sent any more."""


class NoRepeats:
    """A `ChatModel` over another.

    A request that was answered before did not help: it is refused, not sent. One that got no answer, for
    example from a busy server, may be sent again; one whose answer could not be used (empty, cut off, a
    refusal) once more.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._answers: Counter[str] = Counter()

    def complete(
        self, role: Role, messages: Sequence[Message], schema: type[BaseModel] | None = None
    ) -> ChatReply:
        """See `ChatModel.complete`.

        Raises ModelError (kind `repeated`) for a request that was answered before.
        """
        key = json.dumps([role, list(messages), schema.__name__ if schema else ""])
        if self._answers[key] >= _MOST_ANSWERS:
            raise ModelError(
                "the same request was answered before, and the answer was of no use", kind="repeated"
            )
        try:
            reply = self._chat.complete(role, messages, schema)
        except ModelError as error:
            if error.answered:
                self._answers[key] += 1
            raise
        self._answers[key] = _MOST_ANSWERS
        return reply
