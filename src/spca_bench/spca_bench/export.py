"""A campaign to be shared: its results as one flat table, and a folder that can be given away."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spca_bench.campaign import HEAD, RESULTS, Campaign, read_head
from spca_core.errors import InputError
from spca_core.run_folder import write_atomically

CSV, PARQUET = "results.csv", "results.parquet"


def write_tables(campaign: Campaign[Any, Any]) -> list[Path]:
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


def flat_rows(campaign: Campaign[Any, Any]) -> list[dict[str, Any]]:
    """One mapping per row, without nesting; `solved` says how the trial ended, where its bench knows."""
    return [
        {**dict(_flat(row)), "solved": campaign.bench.success(done.result)}
        for done in campaign.done
        for row in campaign.bench.rows(done)
    ]


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested mappings as `name.key`, lists as text with blanks between."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", " ".join(map(str, value))
        else:
            yield f"{prefix}{name}", value


def share(folder: Path, out: Path) -> None:
    """Copy a campaign without what only this machine needs: libraries, kept runs but for their reports.

    What is left can be shown, compared with and, for campaigns with models, repeated anywhere. Paths of
    configuration files become their names. InputError if `folder` holds no campaign or `out` is not empty.
    """
    head = json.loads(read_head(folder).model_dump_json())
    if out.exists() and any(out.iterdir()):
        raise InputError("is not empty", where=str(out), hint="name a new folder")
    out.mkdir(parents=True, exist_ok=True)
    (out / HEAD).write_text(json.dumps(_without_places(head), indent=1))
    for name in (RESULTS, CSV, PARQUET, "index.html"):
        if (folder / name).is_file():
            shutil.copy2(folder / name, out / name)
    if (folder / "llm").is_dir():
        shutil.copytree(folder / "llm", out / "llm")
    for report in folder.glob("runs/*/report.html"):
        copy = out / report.relative_to(folder)
        copy.parent.mkdir(parents=True)
        shutil.copy2(report, copy)


def _without_places(value: Any) -> Any:
    """The same JSON with the names of configuration files in place of their paths."""
    if isinstance(value, dict):
        return {_without_places(key): _without_places(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_places(item) for item in value]
    local = isinstance(value, str) and value.startswith("/") and value.endswith((".yaml", ".yml", ".py"))
    return Path(value).name if local else value
