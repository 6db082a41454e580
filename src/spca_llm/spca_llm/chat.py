"""The chat model that every stage uses: checks budgets, records requests, validates answers.

Where the program has a tracer, each exchange is an OpenTelemetry span with the attributes `gen_ai.*` of its
semantic conventions. Message contents are never put into spans.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from spca_core.errors import SpcaError
from spca_core.ports.chat import ChatReply, ChatUsage, Message, Role
from spca_core.ports.proposer import ModelError
from spca_llm.answer import interpret
from spca_llm.exchange import STOPPED, Answer, AnswerSource, Attempt, Exchange, Request
from spca_llm.ledger import ExchangeLog

try:
    from opentelemetry import trace
except ImportError:
    trace = None


class Chat:
    """A `ChatModel` over any source of answers; everything asked and answered goes into the ledger."""

    def __init__(self, source: AnswerSource, ledger: ExchangeLog) -> None:
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
        request = Request.of(role, messages, schema)
        exchange = self._ask(request)
        answer = exchange.answer
        if answer is None:
            raise ModelError(exchange.error, exchange.error_kind)
        return ChatReply(
            text=answer.text,
            parsed=interpret(answer, schema),
            usage=ChatUsage(
                input_tokens=answer.input_tokens,
                output_tokens=answer.output_tokens,
                cost_usd=answer.usd,
                seconds=exchange.seconds,
            ),
            model=answer.model or exchange.model,
        )

    def close(self) -> None:
        """Release the connection."""
        self.source.close()

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, request: Request) -> Exchange:
        model, base_url = self.source.model_of(request.role)
        began, started = time.monotonic(), datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        attempts: list[Attempt] = []
        answer: Answer | None = None
        problem, kind = "interrupted", STOPPED
        with chat_span(request.role, model, base_url) as span:
            try:
                answer = self.source.ask(request, self.ledger.seconds_left(), attempts.append)
                problem, kind = "", ""
                span.answered(answer)
            except ModelError as error:
                problem, kind = str(error), error.kind
                span.failed(kind)
            except SpcaError as error:
                problem = str(error)
                span.failed(kind)
                raise
            finally:
                exchange = Exchange(
                    started=started, request=request, digest=request.digest, model=model, base_url=base_url,
                    answer=answer, error=problem, error_kind=kind, attempts=tuple(attempts),
                    seconds=time.monotonic() - began,
                )  # fmt: skip
                self.ledger.add(exchange)
        return exchange


class Span:
    """Records the outcome of one exchange; does nothing if OpenTelemetry is not installed."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def answered(self, answer: Answer) -> None:
        """Note the answer's model, finish reason and token counts."""
        self._set("gen_ai.response.model", answer.model)
        self._set("gen_ai.response.finish_reasons", [answer.finish_reason])
        self._set("gen_ai.usage.input_tokens", answer.input_tokens)
        self._set("gen_ai.usage.output_tokens", answer.output_tokens)

    def failed(self, kind: str) -> None:
        """Note that there was no answer, and why in one word."""
        self._set("error.type", kind)
        if self._span is not None:
            self._span.set_status(trace.StatusCode.ERROR, kind)

    def _set(self, name: str, value: Any) -> None:
        if self._span is not None:
            self._span.set_attribute(name, value)


@contextmanager
def chat_span(role: str, model: str, base_url: str) -> Iterator[Span]:
    """A client span `chat MODEL` around one exchange."""
    if trace is None:
        yield Span()
        return
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # the protocol, not the provider
        "gen_ai.request.model": model,
        "spca.role": role,
    }
    parts = urlsplit(base_url)
    if parts.hostname:
        attributes["server.address"] = parts.hostname
        attributes["server.port"] = parts.port or (443 if parts.scheme == "https" else 80)
    tracer = trace.get_tracer("spca_llm")
    with tracer.start_as_current_span(
        f"chat {model}", kind=trace.SpanKind.CLIENT, attributes=attributes
    ) as span:
        yield Span(span)
