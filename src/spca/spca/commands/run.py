"""`spca run` and `spca resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import LEVELS, resumable
from spca.commands.options import OVER_ROS, a_level, a_run, takes, transport_of
from spca_core.model import checked
from spca_core.options import RunOptions

app = typer.Typer()


@app.command(
    rich_help_panel=LEVELS,
    epilog="Examples:  spca run stack_01 · spca run touch_05 --preset shuffled --seed 7 · "
    "spca run stack_01 --ros --no-video · spca run my_level.yaml · "
    "spca run minigrid:MiniGrid-DoorKey-8x8",
)
@takes(
    "preset", "seed", "noise", "proposer", "engine", "llm", "skills", "library", "detector",
    "vision", "rehearse", "rate", "view", "world", "robot", "video",
    proposer="auto",
)  # fmt: skip
def run(
    level: Annotated[str, a_level(f"{RunOptions.model_fields['level'].description} See `spca levels`.")],
    wanted: dict[str, Any],
    ros: Annotated[bool, typer.Option("--ros", help=OVER_ROS)] = False,
    out: Annotated[Path | None, typer.Option(help="The run's folder; a new one in runs/ by default.")] = None,
) -> None:
    """Run one level: look, plan, act, and let the referee judge.

    Exit status 0 success, 1 not solved, 2 bad input.
    """
    from spca.run_command import begun, follow

    wanted["transport"] = transport_of(ros)
    if wanted["view"] == "web":
        raise typer.Exit(0 if _on_page(level, wanted, out) else 1)
    raise typer.Exit(follow(begun(checked(RunOptions, level=level, **wanted), out)))


def _on_page(level: str, wanted: dict[str, Any], out: Path | None) -> bool:
    """Run the level with a page, on which more can be asked for afterwards."""
    from spca.api import session
    from spca.console import Progress
    from spca.conversation import Conversation, is_done
    from spca.kits import kit_of

    with (
        Progress(unit=kit_of(level).time_unit) as progress,
        session(
            level=level, environment=kit_of(level).name, on_event=progress, report=False, **wanted
        ) as table,
    ):
        talk = Conversation(table, progress)
        return talk.on_page(lambda: is_done(talk.level(out)))


@app.command(
    rich_help_panel=LEVELS, epilog="Examples:  spca resume · spca resume runs/20260101-120000_stack_01"
)
def resume(
    run_folder: Annotated[
        Path | None, a_run("The folder of an interrupted run; the newest one in runs/ by default.")
    ] = None,
) -> None:
    """Continue an interrupted run, also one of another command, such as `spca learn`."""
    from spca.run_command import follow, newest_run
    from spca.runs import Run
    from spca_core.paths import RUNS

    commands = {command.run_file: command.resume for command in resumable()}
    folder = run_folder or newest_run(*commands)
    folder = folder if folder.is_dir() else RUNS / folder
    for file, go_on in commands.items():
        if go_on is not None and (folder / file).is_file():
            raise typer.Exit(go_on(folder))
    raise typer.Exit(follow(Run.reopened(run_folder or folder)))
