"""The ledger of a level: every exchange as a JSON file, totals per role, and the budget."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from spca_core.errors import BudgetExhausted
from spca_core.ports.chat import Role
from spca_core.ports.proposer import SERVER_FAULTS
from spca_core.result import Usage
from spca_core.validation import expecting, plain
from spca_llm.config import Budget
from spca_llm.exchange import HIDDEN, Exchange


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
