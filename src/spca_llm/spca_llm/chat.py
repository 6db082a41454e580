"""The chat model that every stage uses: checks budgets, records requests, validates answers.

A folder of recorded exchanges answers, too: a run without a network, a key or a cost.
"""

from __future__ import annotations

import difflib
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from spca_core.errors import BudgetExhausted, InputError, SpcaError
from spca_core.options import REPLAY, Manifest
from spca_core.ports.chat import ChatModel, ChatReply, Message, Role
from spca_core.ports.proposer import ModelError
from spca_core.run_folder import MANIFEST, RunFolder
from spca_core.validation import YAML_FILES
from spca_llm.answer import interpret
from spca_llm.config import Budget, LlmConfig, load_config
from spca_llm.exchange import STOPPED, Answer, Attempt, Exchange, ExchangeLog, Request, read_exchange

if TYPE_CHECKING:
    from spca_llm.client import OpenAISource


_SHOWN = 60  # characters of a line, about the place where it differs


class ReplaySource:
    """Gives each request of a run, which records into a folder of its own, its recorded answer.

    A request that was recorded twice gets both answers in turn.

    Tokens and money count as they were recorded. A request that was never recorded is an InputError which
    names the nearest recording and what differs.
    """

    def __init__(self, folder: Path, run: Path | None = None) -> None:
        if not folder.is_dir():
            hint = "record one by a run first"
            raise InputError("no such folder of recorded exchanges", where=str(folder), hint=hint)
        self.folder, self._hint = folder, _advice(folder, run or folder)
        self._all = {path.name: read_exchange(path) for path in sorted(folder.glob("*[0-9]-*.json"))}
        if not self._all:
            raise InputError("no recorded exchanges", where=str(folder), hint="of a run that asked a model")
        self._waiting: dict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in self._all.values():
            if exchange.error_kind != STOPPED:
                self._waiting[exchange.request.digest].append(exchange)
        self._served: dict[str, int] = defaultdict(int)

    def model_of(self, role: Role) -> tuple[str, str]:
        """Return the model that was recorded first for a role; there is no server."""
        return next((e.model for e in self._all.values() if e.request.role == role), ""), ""

    def ask(self, request: Request, seconds: float | None, note: Callable[[Attempt], None]) -> Answer:
        """Return the recorded answer.

        Raises ModelError when it was one that failed then, InputError when there is none.
        """
        waiting = self._waiting.get(request.digest)
        if not waiting:
            raise InputError(self._missing(request), where=str(self.folder), hint=self._hint)
        exchange = waiting.popleft()
        self._served[request.digest] += 1
        if exchange.answer is None:
            raise ModelError(exchange.error, exchange.error_kind)
        return exchange.answer

    def preflight(self, roles: Sequence[Role]) -> None:
        """Do nothing: what is lacking shows when it is asked for."""

    def _missing(self, request: Request) -> str:
        if times := self._served[request.digest]:
            return f"the request to '{request.role}' was recorded {times} times and is asked once more"
        same_role = {name: e.request for name, e in self._all.items() if e.request.role == request.role}
        if not same_role:
            roles = sorted({e.request.role for e in self._all.values()})
            return f"no request to '{request.role}' was ever recorded, only to {', '.join(roles)}"
        wanted = _lines(request)
        name = max(same_role, key=lambda n: _likeness(wanted, _lines(same_role[n])))
        return (
            f"this request to '{request.role}' was never recorded; "
            f"the nearest is {name}, {_difference(_lines(same_role[name]), wanted)}"
        )


def _advice(recorded: Path, now: Path) -> str:
    """Return what to do where a run asks what another one did not: both may have other options."""
    folders = [folder.parent for folder in (recorded, now)]
    if not all((folder / MANIFEST).is_file() for folder in folders):
        return "record this run anew"
    then, here = (RunFolder(folder).read(MANIFEST, Manifest).options for folder in folders)
    asks = then.model_dump(exclude={"llm", "library", "video", "view", "rate"})
    told = [
        f"--{name} {value}".removeprefix("--level ")
        for name, value in asks.items()
        if value != here.model_dump()[name]
    ]
    return f"it was recorded with {' '.join(told) or 'another version of spca: record this run anew'}"


def _lines(request: Request) -> list[tuple[str, str]]:
    """Split a request into (where, line) pairs."""
    lines = [("the schema", request.schema_name)]
    for number, message in enumerate(request.messages, 1):
        where = f"message {number} ({message.get('role')})"
        for count, line in enumerate(_text(message).splitlines(), 1):
            lines.append((f"{where}, line {count}", line))
    return lines


def _text(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or f"[{part.get('type')}] {part}") for part in content)


def _likeness(some: list[tuple[str, str]], others: list[tuple[str, str]]) -> float:
    return difflib.SequenceMatcher(None, [t for _, t in some], [t for _, t in others], autojunk=False).ratio()


def _difference(recorded: list[tuple[str, str]], asked: list[tuple[str, str]]) -> str:
    for (_, then), (where, now) in zip(recorded, asked, strict=False):
        if then != now:
            return f"which differs in {where}: recorded {_cut(then, now)}, asked {_cut(now, then)}"
    longer, shorter = (asked, recorded) if len(asked) > len(recorded) else (recorded, asked)
    if len(longer) == len(shorter):
        return "which differs in the form of its messages"
    where, text = longer[len(shorter)]
    return f"which {'lacks' if longer is asked else 'goes on with'} {where}: {text[:80]!r}"


def _cut(text: str, other: str) -> str:
    """Return the part of a line around the first place where it differs from the other."""
    start = max(0, len([*takewhile(bool, map(str.__eq__, text, other))]) - 20)
    end = start + _SHOWN
    return repr("…" * (start > 0) + text[start:end] + "…" * (len(text) > end))


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
