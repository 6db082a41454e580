"""`spca run` and `spca resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import LEVELS, ROBOT, VIEW
from spca.commands.completion import complete_level, complete_run
from spca_core.checked import checked

app = typer.Typer()


@app.command(
    rich_help_panel=LEVELS,
    epilog="Examples:  spca run stack_01 · spca run touch_05 --preset shuffled --seed 7 · "
    "spca run stack_01 --transport inproc --no-video · spca run my_level.yaml · "
    "spca run minigrid:MiniGrid-DoorKey-8x8",
)
def run(
    level: Annotated[
        str,
        typer.Argument(
            help=(
                "A level's name (see `spca levels`), the path of a level file, or "
                "`minigrid:` and a MiniGrid level."
            ),
            autocompletion=complete_level,
        ),
    ],
    transport: Annotated[
        str,
        typer.Option(
            help="`inproc`: one process in lockstep; `ros`: the real node graph; "
            "`auto`: the graph that is up, else one process."
        ),
    ] = "auto",
    preset: Annotated[
        str, typer.Option(help="The table: nominal, shuffled, noisy, hard or disturbed.")
    ] = "nominal",
    seed: Annotated[
        int, typer.Option(help="Random seed of the table (except nominal) and of the sensor noise.")
    ] = 0,
    noise: Annotated[bool, typer.Option(help="Sensor noise of the camera.")] = True,
    proposer: Annotated[str, typer.Option(help="`builtin` (no model needed), `openai`, or `auto`.")] = "auto",
    engine: Annotated[
        str,
        typer.Option(help="Planning engine: fast-downward, or one of Unified Planning's that is installed."),
    ] = "fast-downward",
    llm: Annotated[
        str,
        typer.Option(help="A model configuration (YAML), or `replay:FOLDER` to answer from a recorded run."),
    ] = "",
    skills: Annotated[
        str, typer.Option(help="Skills at the start: builtin, trusted (and learned ones), empty, or auto.")
    ] = "auto",
    library: Annotated[
        str, typer.Option(help="Folder of what is learned and trusted; library/ by default.")
    ] = "",
    detector: Annotated[
        str, typer.Option(help="What finds things in camera frames, by name; see `spca doctor`.")
    ] = "shapes",
    vision: Annotated[
        bool, typer.Option("--vision", help="A vision model adds remarks to what the detector sees.")
    ] = False,
    rehearse: Annotated[
        str,
        typer.Option(
            help="Try plans in a twin of what was seen before acting: auto (new skills only), always, never."
        ),
    ] = "auto",
    rate: Annotated[
        float | None, typer.Option(help="Real-time factor; as fast as it can by default.")
    ] = None,
    view: Annotated[bool, typer.Option("--view", help=VIEW)] = False,
    web: Annotated[bool, typer.Option("--view-web", hidden=True)] = False,
    camera: Annotated[str, typer.Option(help="`ray` (no GL needed) or `gl`.")] = "ray",
    world: Annotated[
        str, typer.Option(help="A world in worlds/ or a world file; by default the level's own.")
    ] = "",
    robot: Annotated[str, typer.Option(help=ROBOT)] = "",
    video: Annotated[bool, typer.Option(help="Render a video after the verdict.")] = True,
    out: Annotated[Path | None, typer.Option(help="The run's folder; a new one in runs/ by default.")] = None,
) -> None:
    """Run one level: look, plan, act, and let the referee judge.

    Exit status 0 success, 1 not solved, 2 bad input.
    """
    from spca.ros_ready import chosen_transport
    from spca.run_command import start_run
    from spca_core.options import RunOptions

    wanted: bool | str = "web" if web else view
    transport = chosen_transport(transport, wanted)
    options = checked(
        RunOptions, level=level, transport=transport, preset=preset, seed=seed, noise=noise,
        proposer=proposer,
        engine=engine, llm=llm, skills=skills, library=library, detector=detector, vision=vision,
        rehearse=rehearse,
        rate=rate, view=wanted, camera=camera, world=world,
        robot=robot, video=video,
    )  # fmt: skip
    raise typer.Exit(start_run(options, out))


@app.command(
    rich_help_panel=LEVELS, epilog="Examples:  spca resume · spca resume runs/20260101-120000_stack_01"
)
def resume(
    run_folder: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of an interrupted run; the newest one in runs/ by default.",
            autocompletion=complete_run,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Continue an interrupted run, also one of another command, such as `spca learn`."""
    from spca.commands.plugin import resumable
    from spca.run_command import newest_run, resume_run
    from spca_core.paths import RUNS

    commands = {command.run_file: command.resume for command in resumable()}
    folder = run_folder or newest_run(*commands)
    folder = folder if folder.is_dir() else RUNS / folder
    for file, go_on in commands.items():
        if go_on is not None and (folder / file).is_file():
            raise typer.Exit(go_on(folder))
    raise typer.Exit(resume_run(run_folder or folder))
