"""Requests and answers as they are recorded, a JSON file each; a level's totals per role, and its budget."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from spca_core.errors import BudgetExhausted
from spca_core.model import Record
from spca_core.ports.chat import Message, Role
from spca_core.ports.proposer import SERVER_FAULTS
from spca_core.result import Usage
from spca_core.validation import expecting, plain
from spca_llm.config import Budget

HIDDEN = "[key]"
"""Text that stands for a key, wherever one would be recorded."""

STOPPED = "stopped"
"""Error kind of an exchange that was cut short by something that is not the model's doing."""


class Request(Record):
    """A request to a role, independent of model, server and sampling settings."""

    role: Role
    messages: tuple[Message, ...]
    schema_name: str = ""
    json_schema: dict[str, Any] | None = None

    @classmethod
    def of(cls, role: Role, messages: Sequence[Message], schema: type[BaseModel] | None) -> Request:
        """Make a request for text, or for an instance of `schema`."""
        # The text as transmitted, so that a replay compares equal. Lone surrogates cannot be sent and become
        # `?`.
        text = json.dumps(list(messages), ensure_ascii=False).encode(errors="replace")
        plain = tuple(json.loads(text, object_hook=_printable))
        if schema is None:
            return cls(role=role, messages=plain)
        wanted = schema.model_json_schema()
        return cls(role=role, messages=plain, schema_name=schema.__name__, json_schema=wanted)

    @property
    def digest(self) -> str:
        """SHA-256 of role, messages and the schema's name: equal digests, equal questions.

        The schema itself is left out: its wording depends on docstrings and library versions.
        """
        canonical = {"role": self.role, "messages": self.messages, "schema": self.schema_name}
        text = json.dumps(canonical, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _printable(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part without control and formatting characters, which hide or turn what is read."""
    return {
        key: "".join(c for c in value if c.isprintable() or c in "\n\t") if isinstance(value, str) else value
        for key, value in part.items()
    }


class Answer(Record):
    """A raw answer, before validation.

    `estimated`: the server sent no token counts; `usd`: what it cost, if that is known (`priced`);
    `in_words`: the schema was described in the prompt, since the server enforces none.
    """

    text: str
    refusal: str = ""
    finish_reason: str = "stop"
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False
    usd: float = 0.0
    priced: bool = False
    in_words: bool = False


class Attempt(Record):
    """One attempt at a request: HTTP status (None without a response), error, seconds of wall time."""

    status: int | None = None
    problem: str = ""
    seconds: float = 0.0


class Exchange(Record):
    """A request with its answer, or with the error in place of one. `started` is UTC, in ISO 8601.

    `error_kind` is a ModelError's kind, or `STOPPED` when the exchange was cut short by anything else.
    """

    started: str
    request: Request
    digest: str
    model: str
    base_url: str = ""
    answer: Answer | None = None
    error: str = ""
    error_kind: str = ""
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0

    @property
    def usage(self) -> Usage:
        """What the exchange has used."""
        spent = {} if self.answer is None else {n: v for n, v in self.answer if n in Usage.model_fields}
        failed = sum(bool(attempt.problem) for attempt in self.attempts)
        return Usage(calls=1, seconds=self.seconds, failed=failed, **spent)


def enforced(request: Request) -> dict[str, Any]:
    """Return the field of a request's body that makes a server enforce the schema."""
    schema = request.json_schema or {}
    strict = _closed(schema)
    wanted = {"name": request.schema_name, "strict": strict, "schema": _strict(schema) if strict else schema}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}


def described(request: Request) -> list[Message]:
    """Return the request's messages with the schema, if there is one, in words at the end of the last."""
    if request.json_schema is None:
        return list(request.messages)
    words = (
        "Answer with a single JSON object that fits this JSON schema, and with nothing else:\n"
        f"{json.dumps(request.json_schema)}"
    )
    *before, last = request.messages
    content = last.get("content") or ""
    if isinstance(content, str):
        return [*before, {**last, "content": f"{content}\n\n{words}"}]
    return [*before, {**last, "content": [*content, {"type": "text", "text": words}]}]


def _closed(node: Any) -> bool:
    """Return whether every object has fixed properties; only such schemas may be `strict`."""
    if isinstance(node, list):
        return all(_closed(item) for item in node)
    if not isinstance(node, dict):
        return True
    if node.get("type") == "object" and "properties" not in node:
        return False
    return all(_closed(value) for value in node.values())


def _strict(node: Any) -> Any:
    """Return the schema as strict servers require it.

    Every property is required, no others are allowed, and there are no defaults and only bare references.
    """
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}
    # The keys under `properties` and `$defs` are names, not keywords; a field may be called `title`.
    plain = {
        key: {name: _strict(value) for name, value in item.items()}
        if key in ("properties", "$defs")
        else _strict(item)
        for key, item in node.items()
        if key not in ("default", "title")
    }
    if "properties" in plain:
        plain["required"] = list(plain["properties"])
        plain["additionalProperties"] = False
    return plain


class ExchangeLog:
    """Writes `0001-planner_big.json` and so on into `folder`, and counts what is there already.

    Several processes may share a folder: each sees the others' exchanges in its totals. `secrets` are
    redacted from everything that is written.
    """

    def __init__(
        self,
        folder: Path,
        budget: Budget = Budget(),  # noqa: B008  (immutable)
        secrets: Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = folder
        self.budget = budget
        self._secrets = tuple(s for s in secrets if s)
        self._clock = clock
        self._began = clock()
        self._totals: dict[str, Usage] = {}
        self._counted: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def totals(self) -> dict[str, Usage]:
        """Return the usage of each role so far."""
        for path in sorted(self.folder.glob("*.json")):
            if path.name not in self._counted:
                self._count(path.name, read_exchange(path))
        return dict(self._totals)

    def seconds_left(self) -> float | None:
        """Return the wall time left in seconds, None without a limit."""
        if self.budget.seconds is None:
            return None
        return self.budget.seconds - (self._clock() - self._began)

    def check(self) -> None:
        """Raise BudgetExhausted when a limit is used up."""
        totals = self.totals().values()
        tokens = sum(t.input_tokens + t.output_tokens for t in totals)
        usd = sum(t.usd for t in totals)
        if problem := self.budget.exceeded(tokens, usd, self._clock() - self._began):
            raise BudgetExhausted(f"the level's {problem}")

    def add(self, exchange: Exchange) -> Path:
        """Write an exchange under the next free number; return the file's path."""
        text = json.dumps(exchange.model_dump(mode="json"), indent=1)
        for secret in self._secrets:
            text = text.replace(json.dumps(secret)[1:-1], HIDDEN)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self.folder, suffix=".tmp") as stream:
            stream.write(text)
            stream.flush()
            for path in self._free(exchange.request.role):
                with suppress(FileExistsError):
                    os.link(stream.name, path)  # whole or not at all, and never over another's
                    self._count(path.name, exchange)
                    return path
        raise AssertionError("numbers do not end")

    def _free(self, role: Role) -> Iterator[Path]:
        numbers = (path.name.partition("-")[0] for path in self.folder.glob("*.json"))
        taken = max((int(n) for n in numbers if n.isdigit()), default=0)
        return (self.folder / f"{number:04d}-{role}.json" for number in itertools.count(taken + 1))

    def _count(self, name: str, exchange: Exchange) -> None:
        self._counted.add(name)
        role = exchange.request.role
        self._totals[role] = self._totals.get(role, Usage()) + exchange.usage


def read_exchange(path: Path) -> Exchange:
    """Read one recorded exchange. Raises InputError when the file is damaged."""
    with expecting("a recorded exchange", path):
        return Exchange.model_validate_json(plain(path).read_bytes())


def server_fault(folder: Path) -> str:
    """Return the first recorded failure in a folder that was the server's fault rather than the model's.

    Empty if there is none.

    >>> server_fault(Path("no/such/folder"))
    ''
    """
    exchanges = (read_exchange(path) for path in sorted(folder.glob("*.json")))
    return next((e.error for e in exchanges if e.error_kind in SERVER_FAULTS), "")


def set_aside(folder: Path, under: Path) -> float:
    """Move a ledger's folder into `under`, as the next number; return what its exchanges cost in US dollars.

    Nothing happens where there is no such folder.
    """
    if not folder.is_dir():
        return 0.0
    usd = sum(totals.usd for totals in ExchangeLog(folder).totals().values())
    under.mkdir(parents=True, exist_ok=True)
    folder.rename(under / str(len(list(under.iterdir()))))
    return usd
