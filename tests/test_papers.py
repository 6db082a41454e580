"""The page of the five papers: its commands exist, its files are there, its figures are those of the data."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from typing import Any

import typer

from spca.cli import make_app
from spca_core.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import papers

ROWS = papers.rows()


def test_the_page_is_made_from_the_data() -> None:
    assert "\n".join(papers.lines()) + "\n" == papers.PAGE.read_text(), "make it again: benchmarks/papers.py"


def test_every_row_of_the_papers_is_there_once() -> None:
    counts = {"S": 45, "G": 15, "I": 25, "W": 26, "C": 37}
    expected = [f"{letter}{n}" for letter, most in counts.items() for n in range(1, most + 1)]
    assert [row.id for row in ROWS] == expected
    assert Counter(row.sign in papers.SIGNS for row in ROWS) == {True: 147, False: 1}


def test_files_that_a_row_names_exist() -> None:
    files = {place for row in ROWS for place in row.places if not place.startswith("spca ")}
    assert len(files) > 40 and [name for name in sorted(files) if not (ROOT / name).exists()] == []


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
