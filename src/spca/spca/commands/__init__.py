"""The commands of `spca`: every module here with an `app` adds its own to the command line.

A module that is put here is found by itself; other packages add theirs by entry points of the group `GROUP`.
What a command needs is imported when it runs, not when its module is loaded, so that `spca --help` and tab
completion stay quick.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from spca_core.errors import InputError, did_you_mean
from spca_core.extensions import installed

GROUP = "spca.commands"
PANELS = LEVELS, BENCHES, MACHINE = "Levels and runs", "Benches and programs", "This installation"
"""Panels of the help page in their order, for `rich_help_panel`."""
WORDS = {"view": "web", "video": "hd"}
"""What may follow these flags; each such pair is a hidden flag of its own: `--view-web`."""


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


class CommandsByPanel(TyperGroup):
    """Lists its commands panel by panel."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take `--view web` as one option, and so on: what follows a flag is else the next argument."""
        for flag in (f"--{name} {word}".split() for name, word in WORDS.items()):
            for i in [i for i in range(len(args)) if args[i : i + 2] == flag]:
                args = [*args[:i], "-".join(flag), *args[i + 2 :]]
            for said, word in pairwise(args):
                if said == flag[0] and did_you_mean(word, flag[1:]):
                    raise InputError(f"{said} {word}", hint=f"{' '.join(flag)}, or {said} alone")
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the help page."""
        panels = {name: getattr(command, "rich_help_panel", "") for name, command in self.commands.items()}
        return sorted(
            self.commands, key=lambda name: PANELS.index(panels[name]) if panels[name] in PANELS else 99
        )


def mount(app: typer.Typer, asked: str = "") -> None:
    """Add the commands of every module of this package and of every plugin, in the order of their names.

    Where the command `asked` for is that of a module or a plugin, its own are enough, and quicker.
    """
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    plugins = {} if asked in modules else installed(GROUP)
    for name in [asked] if asked in {*modules, *plugins} else sorted({*modules, *plugins}):
        if name in plugins:
            plugins[name].load().mount(app)
        elif (own := getattr(import_module(f"{__name__}.{name}"), "app", None)) is not None:
            app.add_typer(own)
