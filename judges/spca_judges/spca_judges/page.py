"""The page of all judges, made from the records of campaigns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from spca_bench.campaign import RESULTS, StoredCampaign, read_campaign, read_head
from spca_core.errors import InputError
from spca_core.extensions import installed
from spca_judges.catalogue import JUDGES, Judge

_INTRODUCTION = """# Judges

Figures on test sets and simulators that other people wrote, made from the records of campaigns by
`spca judge page`. A programmed system has an advantage over a learned one: it is told what there is to be
seen and how its arm is built.
"""


def write(campaigns: Sequence[Path]) -> str:
    """The page as Markdown. Raises InputError for a folder that holds no campaign of a judge."""
    return "\n".join([_INTRODUCTION, *(line for folder in campaigns for line in _section(folder))]) + "\n"


def _section(folder: Path) -> Iterator[str]:
    head = read_head(folder)
    if head.bench not in JUDGES or not JUDGES[head.bench].bench:
        raise InputError(f"'{head.bench}' is no judge", where=str(folder), hint=f"one of {', '.join(JUDGES)}")
    judge = JUDGES[head.bench]
    campaign = _read(head.bench, head.settings, folder)
    table = campaign.bench.table(campaign.done)
    yield f"## {judge.title}\n"
    yield f"From {judge.source}. {judge.settings} Run it with `{judge.bench}`.\n"
    yield from _rows(table.heads, table.shown())
    yield ""
    ended = datetime.fromtimestamp((folder / RESULTS).stat().st_mtime, timezone.utc)
    share = f"{len(campaign.done)} of {len(campaign.trials)} trials" + (
        f", {len(campaign.broken)} broken" if campaign.broken else ""
    )
    revision = head.software.git_revision or "unknown"
    settings = ", ".join(f"{k}: {_brief(v)}" for k, v in head.identity.items() if v not in (None, "", []))
    yield f"{share}; revision {revision}, {ended:%Y-%m-%d}; {settings}.\n"
    yield from _others(judge)


def _brief(value: Any) -> str:
    """A setting as text; of a path its name, wherever it lies."""
    return Path(value).name if isinstance(value, str) else str(value)


def _others(judge: Judge) -> Iterator[str]:
    if judge.others:
        yield from _rows(("others", "figures", "source"), judge.others)
        yield ""


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _read(name: str, settings: dict[str, Any], folder: Path) -> StoredCampaign[Any, Any]:
    bench = installed("spca.benches")[name].load().load()
    return read_campaign(bench.model_validate(settings), folder)
