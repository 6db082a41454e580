"""The page of a campaign: the part common to all benches, around what the bench adds."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spca_benchmarks.campaigns.campaign import HEAD, RESULTS, StoredCampaign, read_campaign, read_head
from spca_benchmarks.campaigns.page import Page
from spca_benchmarks.campaigns.statistics import Paired, Rate
from spca_core.errors import InputError
from spca_core.run_folder import write_atomically
from spca_core.validation import expecting

PAGE = "index.html"
CSV, PARQUET = "results.csv", "results.parquet"
_WORSE = "Solved only before"


def write_report(campaign: StoredCampaign[Any, Any], baseline: Path | None = None) -> Path:
    """Write `index.html` and the tables into the campaign's folder; return the page's path.

    `baseline` is the folder of an earlier campaign of the same kind, to compare with by trial.
    """
    bench, done = campaign.bench, campaign.done
    head = read_head(campaign.folder)
    made = head.software
    page = Page(
        bench.title,
        f"campaign {campaign.folder.name} · {len(done)} of {len(campaign.trials)} trials"
        + (f", {len(campaign.broken)} broken" if campaign.broken else "")
        + f" · revision {campaign.revision(made.git_revision)} · Python {made.python}",
    )
    if campaign.stopped:
        page.text(f"Ended early: {campaign.stopped}", warning=True)
    for complaint in campaign.complaints:
        page.text(complaint, warning=True)
    verdicts = [v for d in done if (v := bench.success(d.result)) is not None]
    if verdicts and not bench.compares:
        rate = Rate.of(verdicts)
        page.text(
            f"{rate.good} of {rate.total} trials solved ({rate.percent}, 95 % interval "
            f"{rate.percent_interval})."
        )
    page.table(*bench.table(done))
    if baseline is not None:
        page.heading(f"Compared with {baseline.name}")
        for sentence in comparison(campaign, baseline):
            page.text(sentence, warning=sentence.startswith(_WORSE))
    if done:
        bench.report(done, page)
    if campaign.broken:
        page.heading("Broken trials")
        page.text("Not counted above; they are run again when the campaign is resumed.")
        page.table(("trial", "cause"), list(campaign.broken.items()))
    if campaign.wasted:
        usd = sum(campaign.wasted.values())
        page.text(
            f"Broken or interrupted trials have cost {usd:.4f} US dollars, which the price limit counts."
        )
    page.listing("Settings", json.dumps(head.settings, indent=1, ensure_ascii=False))
    write_tables(campaign)
    return page.write(campaign.folder / PAGE, apart=campaign.folder / "paper")


def comparison(campaign: StoredCampaign[Any, Any], baseline: Path) -> Iterator[str]:
    """Yield sentences that compare a campaign with an earlier one of the same bench, by trial."""
    bench, now = campaign.bench, read_head(campaign.folder).settings
    then = read_head(baseline).settings
    with expecting("a campaign of this version", baseline):
        before = read_campaign(type(bench).model_validate(then), baseline).results
    pairs = [(d.trial.key, before[d.trial.key], d.result) for d in campaign.done if d.trial.key in before]
    verdicts = [(key, bench.success(old), bench.success(new)) for key, old, new in pairs]
    changes = [f"{key} was {then.get(key)!r}, is {now[key]!r}" for key in now if now[key] != then.get(key)]
    yield f"Settings: {'; '.join(changes) or 'the same'}."
    if not pairs or any(None in verdict for verdict in verdicts):
        common = f"{len(pairs)} of {len(campaign.done)} trials are in both"
        old, new = (
            Rate.of(bool(bench.success(r)) for r in own.values()) for own in (before, campaign.results)
        )
        totals = f"{old.good} of {old.total} solved before, {new.good} of {new.total} now"
        yield f"No trial is solved or failed in both ({common}): {totals}."
        return
    paired = Paired.of((bool(new), bool(old)) for _, old, new in verdicts)
    interval = " to ".join(f"{100 * end:+.1f}" for end in paired.interval)
    yield (
        f"{len(pairs)} trials in common: "
        f"{paired.both + paired.second} solved before, {paired.both + paired.first} now. "
        f"{'This may be chance' if paired.p_value > 0.05 else 'This is hardly chance'} (difference "
        f"{100 * paired.difference:+.1f} %, 95 % interval {interval} %, McNemar's p = {paired.p_value:.3g})."
    )
    if same := sum(bench.fingerprint(old) == bench.fingerprint(new) != "" for _, old, new in pairs):
        yield f"{same} went exactly as before: the same steps and times."
    for word, better in (("Solved only now", True), (_WORSE, False)):
        if keys := [key for key, old, new in verdicts if old != new and bool(new) is better]:
            yield f"{word}: {', '.join(keys)}"


def write_tables(campaign: StoredCampaign[Any, Any]) -> list[Path]:
    """Write the results next to `results.jsonl`: CSV always, Parquet where pyarrow is installed."""
    rows = flat_rows(campaign)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files = [campaign.folder / CSV]
    write_atomically(files[0], text.getvalue().encode())
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return files
    table = pyarrow.Table.from_pylist([{c: row.get(c) for c in columns} for row in rows])
    files.append(campaign.folder / PARQUET)
    parquet.write_table(table, files[1])
    return files


def flat_rows(campaign: StoredCampaign[Any, Any]) -> list[dict[str, Any]]:
    """Return one mapping per row, without nesting; `solved` says how the trial ended, if its bench knows."""
    return [
        {**dict(_flat(row)), "solved": campaign.bench.success(done.result)}
        for done in campaign.done
        for row in campaign.bench.rows(done)
    ]


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested mappings as `name.key`, lists as text with blanks between."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", " ".join(map(str, value))
        else:
            yield f"{prefix}{name}", value


def share(campaign: StoredCampaign[Any, Any], out: Path) -> None:
    """Copy a campaign without what only this machine needs: libraries, kept runs but for their reports.

    What is left can be shown, compared with and, for campaigns with models, repeated anywhere. Paths of
    configuration files become their names. Raises InputError if `out` is not empty.
    """
    folder = campaign.folder
    head = json.loads(read_head(folder).model_dump_json())
    if out.exists() and any(out.iterdir()):
        raise InputError("is not empty", where=str(out), hint="name a new folder")
    out.mkdir(parents=True, exist_ok=True)
    (out / HEAD).write_text(json.dumps(_without_places(head), indent=1))
    shutil.copy2(folder / RESULTS, out / RESULTS)
    if (folder / "llm").is_dir():
        shutil.copytree(folder / "llm", out / "llm")
    for report in folder.glob("runs/*/report.html"):
        copy = out / report.relative_to(folder)
        copy.parent.mkdir(parents=True)
        shutil.copy2(report, copy)
    write_report(read_campaign(type(campaign.bench).model_validate(read_head(out).settings), out))


def _without_places(value: Any) -> Any:
    """Return the same JSON with the names of configuration files in place of their paths."""
    if isinstance(value, dict):
        return {_without_places(key): _without_places(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_places(item) for item in value]
    local = isinstance(value, str) and value.startswith("/") and value.endswith((".yaml", ".yml", ".py"))
    return Path(value).name if local else value
