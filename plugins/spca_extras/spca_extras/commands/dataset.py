"""`spca dataset`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import LEVELS, Command
from spca.commands.options import complete_run

_app = typer.Typer()
DATASET = Command(lambda app: app.add_typer(_app))


@_app.command(
    rich_help_panel=LEVELS,
    epilog="Example:  spca dataset 20260101-120000_stack_01 20260101-120130_touch_02 --out demos",
)
def dataset(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of finished runs.", autocompletion=complete_run)
    ],
    out: Annotated[Path, typer.Option(help="The new folder.")],
    fps: Annotated[int, typer.Option(help="Frames a simulated second.", min=1, max=50)] = 10,
) -> None:
    """Write runs as a LeRobot data set (v3.0): camera, joints, actions, language. Needs pyarrow."""
    from spca.console import notices
    from spca_extras.lerobot import write_dataset

    episodes: list[bool] = []

    def on_run(run: Path, written: bool) -> None:
        notices().print(f"  {run}" if written else f"  left out, no states: {run}", markup=False)
        episodes.append(written)

    frames = write_dataset(runs, out, fps, on_run)
    typer.echo(f"{out}: {sum(episodes)} episode{'s' * (sum(episodes) != 1)}, {frames} frames")
