"""`spca mcap`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import LEVELS, Command
from spca.commands.options import complete_run

_app = typer.Typer()
MCAP = Command(lambda app: app.add_typer(_app))


@_app.command(rich_help_panel=LEVELS, epilog="Example:  spca mcap · spca mcap 20260101-120000_stack_01")
def mcap(
    run_folder: Annotated[
        Path | None,
        typer.Argument(help="A finished run; the newest one by default.", autocompletion=complete_run),
    ] = None,
) -> None:
    """Write `run.mcap` into a run's folder: its topics over time, for Foxglove and rosbag2."""
    from spca.run_command import newest_run
    from spca_core.options import Manifest
    from spca_core.run_folder import MANIFEST, RunFolder
    from spca_extras.mcap_log import write_mcap

    folder = RunFolder.open(run_folder or newest_run())
    typer.echo(write_mcap(folder, folder.read(MANIFEST, Manifest).options))
