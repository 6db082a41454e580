"""A language model that never gets the same request twice in a run."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import BaseModel

from spca_core.ports.chat import ChatModel, ChatReply, Message, Role
from spca_core.ports.proposer import ModelError


class NoRepeats:
    """A `ChatModel` over another.

    A request that was answered before did not help, so it is refused instead of being sent again.

    One that got no answer (the server was busy, say) may be sent again.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._answered: set[str] = set()

    def complete(
        self, role: Role, messages: Sequence[Message], schema: type[BaseModel] | None = None
    ) -> ChatReply:
        """See `ChatModel.complete`.

        Raises ModelError (kind `repeated`) for a request that was answered before.
        """
        key = json.dumps([role, list(messages), schema.__name__ if schema else ""])
        if key in self._answered:
            raise ModelError(
                "the same request was answered before, and the answer was of no use", kind="repeated"
            )
        try:
            reply = self._chat.complete(role, messages, schema)
        except ModelError as error:
            if error.answered:
                self._answered.add(key)
            raise
        self._answered.add(key)
        return reply
