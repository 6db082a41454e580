"""A campaign on disk: its description, one JSON line per finished trial, and what can be read from them."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, cast

from pydantic import ValidationError

from spca_benchmarks.campaigns.bench import Bench, Done, ResultT, TrialT
from spca_core.errors import InputError
from spca_core.extensions import find
from spca_core.model import Record
from spca_core.options import Software, software
from spca_core.run_folder import write_atomically
from spca_core.validation import expecting, plain

HEAD, RESULTS = "bench.json", "results.jsonl"


class Head(Record):
    """The description of a campaign.

    It holds the bench with all settings, and everything that its results depend on.
    """

    bench: str
    settings: dict[str, Any]
    identity: dict[str, Any]
    software: Software


class ResultLine(Record):
    """One line of results: a trial that has ended, or one that is broken (why is in one line)."""

    trial: str
    seconds: float
    """Wall time in the worker in seconds."""
    broken: str = ""
    result: dict[str, Any] | None = None
    usd: float = 0.0
    """Cost of a broken trial in US dollars; a result knows its own cost."""
    stop: str = ""
    """A limit that ends the campaign; such an entry is not written down."""
    revision: str = ""
    """Revision of the project, where it is not the one at which the campaign was begun."""


@dataclass
class StoredCampaign(Generic[TrialT, ResultT]):
    """A bench with what its folder holds: results, and causes of broken trials, by the trials' keys."""

    bench: Bench[TrialT, ResultT]
    folder: Path
    trials: Sequence[TrialT]
    results: dict[str, ResultT] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    stopped: str = ""
    """Reason why the campaign ended early, if it did."""
    wasted: dict[str, float] = field(default_factory=dict)
    """Costs of broken trials in all their attempts, in US dollars, by the trials' keys."""
    revisions: dict[str, str] = field(default_factory=dict)
    """Revisions of the project by the keys of the trials with a result; see `ResultLine`."""

    @property
    def done(self) -> list[Done[TrialT, ResultT]]:
        """Every trial that has a result, in the order of the trials."""
        return [Done(t, self.results[t.key]) for t in self.trials if t.key in self.results]

    def add(self, entry: ResultLine) -> None:
        """Take in one line of results. Raises ValidationError if it does not hold a result of this bench."""
        if entry.result is None:
            self.broken[entry.trial] = entry.broken
            if entry.usd:
                self.wasted[entry.trial] = self.wasted.get(entry.trial, 0.0) + entry.usd
        else:
            self.results[entry.trial] = cast("ResultT", self.bench.result_type.model_validate(entry.result))
            self.revisions[entry.trial] = entry.revision
            self.broken.pop(entry.trial, None)

    def revision(self, begun: str) -> str:
        """Return the revisions that results were made at, in one line; `begun` is that of the start."""
        return ", ".join(dict.fromkeys(r or begun for r in self.revisions.values())) or begun


def read_campaign(bench: Bench[TrialT, ResultT], folder: Path) -> StoredCampaign[TrialT, ResultT]:
    """Read all results of a bench's trials, the newest for each.

    A line that cannot be read is a complaint, and costs only its own trial, which is run again.
    """
    campaign = StoredCampaign(bench, folder, bench.trials())
    keys = {t.key for t in campaign.trials}
    path = folder / RESULTS
    text = plain(path).read_text(errors="replace") if path.is_file() else ""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            entry = ResultLine.model_validate_json(line)
            if entry.trial in keys:
                campaign.add(entry)
        except ValidationError:
            if line.strip():
                problem = "not a result, passed over; its trial is run again"
                campaign.complaints.append(f"{path}:{number}: {problem}")
    return campaign


def append(folder: Path, entry: ResultLine) -> None:
    """Add a line; it is on disk when this returns. After an incomplete last line, a new line is started."""
    path = folder / RESULTS
    torn = path.is_file() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as stream:
        stream.write(("\n" if torn else "") + entry.model_dump_json(exclude_defaults=True) + "\n")
        stream.flush()
        os.fsync(stream.fileno())


def read_head(folder: Path) -> Head:
    """Read the head of the campaign that a folder holds. Raises InputError if it holds none."""
    path = folder / HEAD
    try:
        return Head.model_validate_json(plain(path).read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(
            "holds no campaign", where=str(folder), hint="name a folder that `spca bench` has made"
        ) from error


def recorded(folder: Path, name: str) -> Any:
    """Return what a campaign's identity says of `name`, for the bench that wrote it and now replays it."""
    return read_head(folder).identity[name]


@contextmanager
def claimed(folder: Path, bench: Bench[Any, Any]) -> Iterator[None]:
    """Open a campaign in `folder`, new or continued, which is locked as long as the context lasts.

    Raises InputError when the folder holds another campaign, or something else.
    """
    identity = json.loads(json.dumps(bench.identity()))
    if (folder / HEAD).is_file():
        head = read_head(folder)
        there = {"bench": head.bench, **head.identity}
        wanted = {"bench": bench.name, **identity}
        different = sorted(k for k in {*there, *wanted} if there.get(k) != wanted.get(k))
        if different:
            raise InputError(
                f"holds another campaign ({', '.join(different)} differ)",
                where=str(folder),
                hint="name a new folder with --out",
            )
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            "is not empty and holds no campaign", where=str(folder), hint="name a new folder with --out"
        )
    else:
        settings = bench.model_dump(mode="json")
        head = Head(bench=bench.name, settings=settings, identity=identity, software=software())
        write_atomically(folder / HEAD, head.model_dump_json(indent=1).encode())
    with (folder / HEAD).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError("this campaign is being run already", where=str(folder)) from error
        yield


def bench_in(folder: Path) -> Bench[Any, Any]:
    """Return the bench of a campaign's folder, with its settings. Raises InputError if there is none."""
    head = read_head(folder)
    kind: type[Bench[Any, Any]] = find("spca.benches", head.bench, where=str(folder)).load().load()
    with expecting("a campaign of this version", folder):
        return kind.model_validate(head.settings)
