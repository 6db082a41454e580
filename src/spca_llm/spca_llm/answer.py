"""Reading the body of a chat completion."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ValidationError

from spca_core.ports.proposer import ModelError
from spca_core.validation import first_problem
from spca_llm.exchange import Answer

_CHARACTERS_A_TOKEN = 4
"""A rule of thumb, used only where a server sends no counts."""


class _Cached(BaseModel):
    cached_tokens: int | None = 0


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Cached | None = None


class _Part(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    """The required fields of a completion; servers may send more."""

    choices: list[_Choice]
    model: str = ""
    usage: _Usage | None = None


def answer_from(body: bytes, sent: str) -> Answer:
    """The answer in a response body; `sent` is the request's text, to estimate tokens where none are counted.

    Raises ModelError when it is not a chat completion.
    """
    try:
        completion = _Completion.model_validate(json.loads(body))
    except ValidationError as error:
        raise ModelError(f"the server's answer is not a chat completion: {first_problem(error)}") from error
    except (ValueError, RecursionError) as error:
        start = " ".join(body[:200].decode(errors="replace").split())
        raise ModelError(f"the server's answer is not JSON but begins: {start or '(nothing)'}") from error
    if not completion.choices:
        raise ModelError("the server's answer holds no choices", "empty")
    choice = completion.choices[0]
    text = _text(choice.message.content)
    usage = completion.usage
    if usage is not None and min(usage.prompt_tokens, usage.completion_tokens) < 0:
        usage = None  # it would give back what a budget has counted
    details = usage.prompt_tokens_details if usage else None
    return Answer(
        text=text,
        refusal=whole(choice.message.refusal or ""),
        finish_reason=whole(choice.finish_reason or "stop"),
        model=whole(completion.model),
        input_tokens=usage.prompt_tokens if usage else len(sent) // _CHARACTERS_A_TOKEN,
        output_tokens=usage.completion_tokens if usage else len(text) // _CHARACTERS_A_TOKEN,
        cached_tokens=min(max(details.cached_tokens or 0, 0), usage.prompt_tokens)
        if usage and details
        else 0,
        estimated=usage is None,
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        content = "".join(part.text for part in content)
    return whole(content or "")


def whole(text: str) -> str:
    r"""A text in which `?` stands for each lone surrogate, which JSON can carry and files cannot.

    >>> whole("half a pair: \ud800")
    'half a pair: ?'
    """
    return text.encode("utf-8", errors="replace").decode("utf-8")
