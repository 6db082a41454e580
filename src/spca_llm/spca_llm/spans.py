"""OpenTelemetry spans with the `gen_ai.*` attributes, where the program has a tracer; nothing otherwise.

Attribute names: OpenTelemetry semantic conventions for generative AI clients. Message contents are never put
into spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from spca_llm.exchange import Answer

try:
    from opentelemetry import trace
except ImportError:
    trace = None


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
