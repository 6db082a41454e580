"""A campaign's results as one flat table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spca_bench.campaign import StoredCampaign
from spca_core.run_folder import write_atomically

CSV, PARQUET = "results.csv", "results.parquet"


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
