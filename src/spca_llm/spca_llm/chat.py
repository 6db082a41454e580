"""The chat model that every stage uses: checks budgets, records requests, validates answers."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from spca_core.errors import BudgetExhausted, InputError, SpcaError
from spca_core.ports.chat import REPLAY, ChatModel, ChatReply, Message, Role
from spca_core.ports.proposer import ModelError
from spca_core.validation import YAML_FILES
from spca_llm.answer import interpret
from spca_llm.config import Budget, LlmConfig, load_config
from spca_llm.exchange import STOPPED, Answer, Attempt, Exchange, ExchangeLog, Request
from spca_llm.replay import ReplaySource

if TYPE_CHECKING:  # the HTTP library loads slowly, and most runs use no server
    from spca_llm.client import OpenAISource


class Chat:
    """A `ChatModel` over a server or recorded answers; what is asked and answered goes into the ledger."""

    def __init__(self, source: OpenAISource | ReplaySource, ledger: ExchangeLog) -> None:
        self.source = source
        self.ledger = ledger

    def preflight(self, roles: Sequence[Role]) -> None:
        """Check before a run that these roles can be asked. Raises InputError."""
        self.source.preflight(roles)

    def complete(
        self, role: Role, messages: Sequence[Message], schema: type[BaseModel] | None = None
    ) -> ChatReply:
        """See `ChatModel.complete`. An answer that cannot be used is recorded and paid for like any other."""
        self.ledger.check()
        exchange = self._ask(Request.of(role, messages, schema))
        answer = exchange.answer
        if answer is None:
            raise ModelError(exchange.error, exchange.error_kind)
        return ChatReply(
            text=answer.text,
            parsed=interpret(answer, schema),
            usage=exchange.usage,
            model=answer.model or exchange.model,
        )

    def _ask(self, request: Request) -> Exchange:
        model, base_url = self.source.model_of(request.role)
        began, started = time.monotonic(), datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        attempts: list[Attempt] = []
        answer: Answer | None = None
        problem, kind = "interrupted", STOPPED
        try:
            answer = self.source.ask(request, self.ledger.seconds_left(), attempts.append)
            problem, kind = "", ""
        except ModelError as error:
            problem, kind = str(error), error.kind
        except SpcaError as error:
            problem = str(error)
            raise
        finally:
            exchange = Exchange(
                started=started, request=request, digest=request.digest, model=model, base_url=base_url,
                answer=answer, error=problem, error_kind=kind, attempts=tuple(attempts),
                seconds=time.monotonic() - began,
            )  # fmt: skip
            self.ledger.add(exchange)
        return exchange


_MOST_ANSWERS = 2
"""Number of unusable answers to one request after which it is not sent any more."""


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
            told = "the same request was answered before, and the answer was of no use"
            raise ModelError(told, kind="repeated")
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


def open_chat(llm: str, folder: Path, config: LlmConfig | None = None) -> Chat:
    """Open a chat model that records into `folder`.

    `llm` is empty for the configured server, `replay:FOLDER` for recorded answers, or the path of a
    configuration file. Raises InputError with one clear line. No server is contacted yet: see
    `Chat.preflight`.
    """
    if llm.startswith(REPLAY):
        recorded = Path(llm[len(REPLAY) :])
        if recorded.resolve() == folder.resolve():
            raise InputError("a replay cannot record into the folder it reads", where=str(folder))
        return Chat(ReplaySource(recorded, folder), ExchangeLog(folder, Budget()))
    if llm and Path(llm).suffix not in YAML_FILES:
        hint = "use replay:FOLDER, or the path of a model configuration (YAML)"
        raise InputError(f"--llm {llm!r}", hint=hint)
    from spca_llm.client import OpenAISource

    config = config or load_config(Path(llm) if llm else None)
    source = OpenAISource(config)
    return Chat(source, ExchangeLog(folder, config.budget, source.secrets))
