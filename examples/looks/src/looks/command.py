"""`spca bench looks`: what the entry point names. The bench's own modules are loaded when it runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spca_benchmarks.campaigns.command import BenchCommand
from spca_core.model import checked


def _options(
    detector: Annotated[str, typer.Option(help="Which detector is measured.")] = "shapes",
    tables: Annotated[int, typer.Option(help="How many tables.", min=1)] = 5,
) -> Any:
    """Measure how far from the truth a detector sees the cubes of a table."""
    from looks.bench import LooksBench

    return checked(LooksBench, detector=detector, tables=tables)


LOOKS = BenchCommand("looks.bench:LooksBench", _options, "spca bench looks --detector shapes --tables 20")
