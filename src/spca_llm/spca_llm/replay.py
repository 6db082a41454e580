"""Answers from a folder of recorded exchanges: a run without a network, a key or a cost."""

from __future__ import annotations

import difflib
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path

from spca_core.errors import InputError
from spca_core.options import Manifest
from spca_core.ports.chat import Message, Role
from spca_core.ports.proposer import ModelError
from spca_core.run_folder import MANIFEST, RunFolder
from spca_llm.exchange import STOPPED, Answer, Attempt, Exchange, Request, read_exchange

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
