"""Reads the body of a chat completion and parses its answer, or says in one clear sentence what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from spca_core.ports.proposer import ModelError
from spca_core.prompting import fenced
from spca_core.validation import first_problem
from spca_llm.exchange import Answer

_CHARACTERS_A_TOKEN = 4
"""Number of characters counted as a token: a rule of thumb, only for servers that send no counts."""
_MAX_STARTS = 50


class _Cached(BaseModel):
    cached_tokens: int | None = 0


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Cached | None = None


class _Part(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: str | Annotated[list[_Part], Field(fail_fast=True)] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    """The required fields of a completion; servers may send more."""

    choices: Annotated[list[_Choice], Field(fail_fast=True)]
    model: str = ""
    usage: _Usage | None = None


def answer_from(body: bytes, sent: str) -> Answer:
    """Read the answer in a response body; `sent` is the request's text, to estimate tokens not counted.

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
    said = choice.message.content or ""
    text = whole(said if isinstance(said, str) else "".join(part.text for part in said))
    usage = completion.usage
    if usage is not None and min(usage.prompt_tokens, usage.completion_tokens) < 0:
        usage = None  # it would give back what a budget has counted
    details = usage.prompt_tokens_details if usage else None
    cached = min(max(details.cached_tokens or 0, 0), usage.prompt_tokens) if usage and details else 0
    return Answer(
        text=text,
        refusal=whole(choice.message.refusal or ""),
        finish_reason=whole(choice.finish_reason or "stop"),
        model=whole(completion.model),
        input_tokens=usage.prompt_tokens if usage else len(sent) // _CHARACTERS_A_TOKEN,
        output_tokens=usage.completion_tokens if usage else len(text) // _CHARACTERS_A_TOKEN,
        cached_tokens=cached,
        estimated=usage is None,
    )


def whole(text: str) -> str:
    r"""Return a text in which `?` stands for each lone surrogate, which JSON can carry and files cannot.

    >>> whole("half a pair: \ud800")
    'half a pair: ?'
    """
    return text.encode("utf-8", errors="replace").decode("utf-8")


def interpret(answer: Answer, schema: type[BaseModel] | None) -> BaseModel | None:
    """Return an instance of `schema`, None without. Raises ModelError: refused, truncated, empty, invalid."""
    if answer.refusal or answer.finish_reason == "content_filter":
        raise ModelError(
            f"the model refused: {_short(answer.refusal or 'its content filter stopped it')}", "refused"
        )
    if answer.finish_reason == "length":
        raise ModelError(
            f"the answer was cut off after {answer.output_tokens} tokens: "
            "ask for less, or raise max_output_tokens",
            "truncated",
        )
    if not answer.text.strip():
        raise ModelError("the answer is empty", "empty")
    return None if schema is None else parse(answer.text, schema)


def parse(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the first JSON object in a text that fits the schema: alone, in a fenced block or in prose."""
    problem = ""
    for candidate in _objects(text):
        try:
            said = json.dumps(candidate, ensure_ascii=False)
            if whole(said) == said:  # pydantic would take half a character, and no file could hold it
                return schema.model_validate(candidate)
            problem = problem or "it has half of a surrogate pair, which is no character"
        except RecursionError:  # deep enough to be written is less deep than to be read
            problem = problem or "it is nested too deeply"
        except ValidationError as error:
            problem = problem or first_problem(error)
    if problem:
        raise ModelError(f"the answer does not fit the schema {schema.__name__}: {problem}", "invalid")
    raise ModelError(f"the answer holds no JSON object but begins: {_short(text)}", "invalid")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield JSON objects in a text, the likeliest first."""
    decoder = json.JSONDecoder(strict=False)  # models write line breaks into strings
    for block in (text.strip(), *fenced(text, ("json",))):
        with suppress(ValueError, RecursionError):
            if isinstance(value := decoder.decode(block), dict):
                yield value
    start = -1
    for _ in range(_MAX_STARTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        with suppress(ValueError, RecursionError):
            value, end = decoder.raw_decode(text, start)
            start = end - 1
            if isinstance(value, dict):
                yield value


def _short(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}…"
