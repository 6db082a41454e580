"""The benches that need the supervisor, and the bench of a campaign's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spca_bench.bench import Bench
from spca_bench.campaign import read_head
from spca_core.extensions import find
from spca_core.validation import expecting


def bench_in(folder: Path) -> Bench[Any, Any]:
    """The bench of a campaign's folder, with its settings. InputError if there is none."""
    head = read_head(folder)
    kind: type[Bench[Any, Any]] = find("spca.benches", head.bench, where=str(folder)).load().load()
    with expecting("a campaign of this version", folder):
        return kind.model_validate(head.settings)
