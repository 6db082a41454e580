"""Scripted reactions of the test server: answers, refusals and faults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from spca_testing.models.wire import Wire


class Behaviour(Protocol):
    """A reaction to one request."""

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """Write to the wire; `request` is the decoded body of the request."""


@dataclass(frozen=True)
class Say:
    """An answer in text.

    `usage` is (input, output) tokens, or None to count none; `refusal` is sent in addition to the text.
    """

    text: str
    finish_reason: str = "stop"
    usage: tuple[int, int] | None = (10, 5)
    refusal: str | None = None

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """As a whole."""
        wire.json(200, self.completion(request))

    def completion(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The chat completion as the API has it."""
        message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        head = {"id": "chatcmpl-test", "object": "chat.completion", "created": 0}
        return {**head, "model": request.get("model", ""), "choices": [choice], "usage": self._usage()}

    def _usage(self) -> dict[str, int] | None:
        if self.usage is None:
            return None
        given, made = self.usage
        return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def say_json(value: Any, **options: Any) -> Say:
    """An answer that is the JSON of a plain value or of a record."""
    plain = value.model_dump(mode="json") if hasattr(value, "model_dump") else value
    return Say(json.dumps(plain), **options)


def refuse(words: str = "I cannot help with that.") -> Say:
    """A refusal, as OpenAI's models send it with structured output."""
    return Say("", refusal=words)


def cut_off(text: str) -> Say:
    """An answer that ran into the token limit."""
    return Say(text, finish_reason="length")


def huge(size: int) -> Say:
    """An answer of `size` characters."""
    return Say("x" * size)


@dataclass(frozen=True)
class Status:
    """An HTTP error as the API sends it: `Status(429, headers={"retry-after": "1"})`, `Status(500)`."""

    status: int
    message: str = "this is how the script wants it"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """The error, in the API's form."""
        error = {"message": self.message, "code": self.code, "type": "error"}
        wire.json(self.status, {"error": error}, self.headers)


@dataclass(frozen=True)
class Raw:
    """Any body whatever, with status 200."""

    body: bytes
    content_type: str = "application/json"

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """The body as it is."""
        wire.body(200, self.body, self.content_type)


@dataclass(frozen=True)
class Stall:
    """Nothing at all for some seconds, or until the server closes; then the connection ends."""

    seconds: float = 3600.0

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """Silence."""
        wire.wait(self.seconds)
        wire.hang_up()


@dataclass(frozen=True)
class Drip:
    """A good answer sent byte by byte, `pause` seconds apart: never idle for long, but never done."""

    text: str = "slow"
    pause: float = 0.05

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """Byte by byte."""
        body = json.dumps(Say(self.text).completion(request)).encode()
        wire.head(200, {"content-type": "application/json", "content-length": str(len(body))})
        for byte in body:
            if not wire.write(bytes([byte])) or wire.wait(self.pause):
                break
        wire.hang_up()


@dataclass(frozen=True)
class Flow:
    """Any bytes, then `piece` again and again, `pause` seconds apart, for as long as somebody listens."""

    begin: bytes
    piece: bytes
    pause: float = 0.02

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """Without an end."""
        flows = wire.write(self.begin)
        while flows and not (self.pause and wire.wait(self.pause)):
            flows = wire.write(self.piece)
        wire.hang_up()


@dataclass(frozen=True)
class Truncated:
    """A good answer, of which only the first `share` arrives before the connection ends."""

    text: str = "this is never read to its end"
    share: float = 0.5

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """A body shorter than its Content-Length."""
        body = json.dumps(Say(self.text).completion(request)).encode()
        wire.head(200, {"content-type": "application/json", "content-length": str(len(body))})
        wire.write(body[: int(len(body) * self.share)])
        wire.hang_up()


@dataclass(frozen=True)
class Reset:
    """The connection is reset (TCP RST) in place of an answer."""

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> None:
        """Reset."""
        wire.reset()
