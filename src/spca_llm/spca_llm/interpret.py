"""Parses a model's answer, or says in one clear sentence what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from spca_core.ports.proposer import ModelError
from spca_core.validation import first_problem
from spca_llm.exchange import Answer

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_MAX_STARTS = 50


def interpret(answer: Answer, schema: type[BaseModel] | None) -> BaseModel | None:
    """An instance of `schema`, None without one. Raises ModelError: refused, truncated, empty or invalid."""
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
    """The first JSON object in a text that fits the schema: alone, in a fenced block, or among prose."""
    problem = ""
    for candidate in _objects(text):
        if _has_lone_surrogate(candidate):  # pydantic would take it, and no file could hold it
            problem = problem or "it has half of a surrogate pair, which is no character"
            continue
        try:
            return schema.model_validate(candidate)
        except ValidationError as error:
            problem = problem or first_problem(error)
    if problem:
        raise ModelError(f"the answer does not fit the schema {schema.__name__}: {problem}", "invalid")
    raise ModelError(f"the answer holds no JSON object but begins: {_short(text)}", "invalid")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects in a text, the likeliest first."""
    decoder = json.JSONDecoder(strict=False)  # models write line breaks into strings
    for block in (text.strip(), *(match.strip() for match in _FENCED.findall(text))):
        try:
            value = decoder.decode(block)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
    start = -1
    for _ in range(_MAX_STARTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
        start = end - 1


def _has_lone_surrogate(value: dict[str, Any]) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _short(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}…"
