"""A chat model that is not asked in vain: neither the same again and again, nor where nobody answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from spca_core.errors import BudgetExhausted
from spca_core.ports.chat import ChatModel, ChatReply, Message, Role
from spca_core.ports.proposer import ModelError

_MOST_ANSWERS = 2
"""Answers to one request, unusable ones, after which it is not sent any more."""


class NotInVain:
    """A `ChatModel` over another.

    A request that was answered before did not help: it is refused, not sent. One that got no answer, for
    example from a busy server, may be sent again; one whose answer could not be used (empty, cut off, a
    refusal) once more. A role that leaves as many requests in a row unanswered as a round of a run has is
    given up: `patience` by role, for others `most`.
    """

    def __init__(self, chat: ChatModel, patience: Mapping[Role, int], most: int) -> None:
        self._chat, self._patience, self._most = chat, patience, most
        self._answers: Counter[str] = Counter()
        self._unanswered: Counter[Role] = Counter()

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
                self._unanswered[role] = 0
                raise
            self._unanswered[role] += 1
            if (asked := self._unanswered[role]) >= self._patience.get(role, self._most):
                raise BudgetExhausted(
                    f"{asked} requests in a row had no answer; the last: {error}"
                ) from error
            raise
        self._answers[key] = _MOST_ANSWERS
        self._unanswered[role] = 0
        return reply
