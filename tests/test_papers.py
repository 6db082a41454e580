"""The pages of the five papers and of measurements: their figures are those of the data."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import typer

from spca.cli import make_app
from spca_core.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import measurements
import papers

ROWS = papers.rows()


def test_the_pages_are_made_from_the_data() -> None:
    assert "\n".join(papers.lines()) + "\n" == papers.PAGE.read_text(), "make it again: benchmarks/papers.py"
    shown = measurements.PAGE.read_text().splitlines()
    assert shown == "\n".join(measurements.lines()).splitlines(), (
        "make it again: benchmarks/measurements.py page"
    )


def test_commands_are_understood_by_the_command_line() -> None:
    """Parsed to the last option; nothing is run."""
    for command in {place for row in ROWS for place in row.places if place.startswith("spca ")}:
        context: Any = None
        node: Any = typer.main.get_command(make_app())
        arguments = shlex.split(command)
        while True:
            context = node.make_context(arguments[0], arguments[1:], parent=context)
            if not hasattr(node, "commands"):
                break
            behind = [*context._protected_args, *context.args]
            assert behind, f"{command}: a command is missing behind it"
            name, node, rest = node.resolve_command(context, behind)
            arguments = [name, *rest]
