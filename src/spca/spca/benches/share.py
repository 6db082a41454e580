"""A campaign as a folder that can be given away: shown, compared with and repeated anywhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from spca.benches.campaign import HEAD, RESULTS, StoredCampaign, read_campaign, read_head
from spca.benches.report import write_report
from spca_core.errors import InputError


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
    bench = type(campaign.bench).model_validate(read_head(out).settings)
    write_report(read_campaign(bench, out))


def _without_places(value: Any) -> Any:
    """Return the same JSON with the names of configuration files in place of their paths."""
    if isinstance(value, dict):
        return {_without_places(key): _without_places(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_places(item) for item in value]
    local = isinstance(value, str) and value.startswith("/") and value.endswith((".yaml", ".yml", ".py"))
    return Path(value).name if local else value
