"""Commands that other packages bring: the entry points of the group `spca.commands`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from spca_core.extensions import installed

GROUP = "spca.commands"


@dataclass(frozen=True)
class Command:
    """Command that an entry point of `spca.commands` names; the entry point's name is the command's."""

    mount: Callable[[typer.Typer], None]
    """Function that adds the command; it imports what the command needs only when that runs."""
    run_file: str = ""
    """File that marks a folder in `runs/` as a run of this command; "" where it has none."""
    resume: Callable[[Path], int] | None = None
    """Function that continues the run in a folder with `run_file`, and returns the exit status."""


def resumable() -> Iterator[Command]:
    """Yield the installed commands whose runs `spca resume` can continue."""
    for plugin in installed(GROUP).values():
        command: Command = plugin.load()
        if command.resume is not None:
            yield command
