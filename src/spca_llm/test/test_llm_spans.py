"""Spans: real ones where OpenTelemetry is installed, none and no harm where it is not."""

from __future__ import annotations

import pytest

from spca_llm import chat
from spca_llm.exchange import Answer

ANSWER = Answer(text="secret words", model="m-1", input_tokens=7, output_tokens=3)


def test_without_opentelemetry_nothing_happens(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chat, "trace", None)
    with chat.chat_span("coder", "m", "http://127.0.0.1:1/v1") as span:
        span.answered(ANSWER)
        span.failed("timeout")


def test_a_span_carries_the_conventional_attributes():
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="needs opentelemetry-sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    with chat.chat_span("coder", "m", "http://127.0.0.1:8000/v1") as span:
        span.answered(ANSWER)
    with chat.chat_span("coder", "m", "") as span:
        span.failed("timeout")
    good, bad = exporter.get_finished_spans()
    assert good.name == "chat m"
    assert good.attributes["gen_ai.operation.name"] == "chat"
    assert good.attributes["gen_ai.response.model"] == "m-1"
    assert good.attributes["gen_ai.usage.input_tokens"] == 7
    assert good.attributes["server.port"] == 8000
    assert "secret words" not in str(good.attributes)
    assert bad.attributes["error.type"] == "timeout"
    assert not bad.status.is_ok
