"""The page of all judges, made from the records of campaigns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from spca_benchmarks.campaigns.bench import Bench
from spca_benchmarks.campaigns.campaign import RESULTS, StoredCampaign, read_campaign, read_head
from spca_core.errors import InputError, one_of
from spca_core.extensions import installed
from spca_judges.catalogue import JUDGES, Judge

_INTRODUCTION = """# Benchmarks of others

Results on test sets and simulators that other people wrote, made from campaigns by `spca judge page`.
`spca judge list` says what each needs, `spca judge install NAME` makes its interpreter. A programmed system
has an advantage over a learned one: it is told what there is to be seen, and how its arm is built.
"""


def write(campaigns: Sequence[Path]) -> str:
    """The page as Markdown: a section for each judge. InputError for a folder without a judge's campaign."""
    records: dict[str, list[Path]] = {}
    for folder in campaigns:
        name = read_head(folder).bench
        if name not in JUDGES or not JUDGES[name].bench:
            raise InputError(f"'{name}' is no judge", where=str(folder), hint=one_of(name, JUDGES))
        records.setdefault(name, []).append(folder)
    sections = (line for name, folders in records.items() for line in _section(JUDGES[name], folders))
    return "\n".join([_INTRODUCTION, *sections])


def _section(judge: Judge, folders: Sequence[Path]) -> Iterator[str]:
    """One table from all records of a judge; where two have the same trial, the later one counts."""
    read = [_read(folder) for folder in folders]
    done = {d.trial.key: d for campaign in read for d in campaign.done}
    longest_first = sorted(read, key=lambda campaign: -len(campaign.trials))
    trials = dict.fromkeys(t.key for campaign in longest_first for t in campaign.trials)
    broken = len({key for campaign in read for key in campaign.broken} - done.keys())
    table = read[-1].bench.table([done[key] for key in trials if key in done])
    yield f"## {judge.title}\n"
    yield f"From {judge.source}. {judge.settings} Run it with `{judge.bench}`.\n"
    yield from _rows(table.heads, table.shown())
    yield ""
    yield f"{len(done)} of {len(trials)} trials" + (f", {broken} broken" if broken else "") + "."
    for campaign in read:
        head = read_head(campaign.folder)
        ended = datetime.fromtimestamp((campaign.folder / RESULTS).stat().st_mtime, timezone.utc)
        revision = f"Revision {campaign.revision(head.software.git_revision) or 'unknown'}, {ended:%Y-%m-%d}"
        yield "; ".join([revision, *_settings(campaign.bench, head.identity)]) + "."
    yield ""
    yield from _others(judge)


def _settings(bench: Bench[Any, Any], identity: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings that differ from their defaults; where the data lie is left out."""
    for name, field in type(bench).model_fields.items():
        if not field.is_required() and getattr(bench, name) != field.default and name in identity:
            value = identity[name]
            several = value if isinstance(value, list) else [value]
            yield name if value is True else f"{name}: {', '.join(map(str, several))}"


def _others(judge: Judge) -> Iterator[str]:
    if judge.others:
        yield from _rows(("others", "figures", "source"), judge.others)
        yield ""


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _read(folder: Path) -> StoredCampaign[Any, Any]:
    head = read_head(folder)
    bench = installed("spca.benches")[head.bench].load().load()
    return read_campaign(bench.model_validate(head.settings), folder)
