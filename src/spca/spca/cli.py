"""The command line: `bin/spca COMMAND`."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import BaseModel

from spca.grid.cli import mount as mount_grid_worlds
from spca_core.errors import EXIT_BAD_INPUT, EXIT_BROKEN, InputError, SpcaError

T = TypeVar("T", bound=BaseModel)

app = typer.Typer(
    name="spca",
    help="Sense–Plan–Code–Act for tabletop manipulation: models propose, deterministic critics decide.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
bench_app = typer.Typer(help="Campaigns and benchmarks.", no_args_is_help=True)
app.add_typer(bench_app, name="bench")
mount_grid_worlds(app, bench_app)


@app.command(
    epilog="Examples:  [bold]spca run stack_01[/bold] · spca run touch_05 --preset shuffled --seed 7 · "
    "spca run stack_01 --transport inproc --no-video · spca run my_level.yaml · spca run minigrid:MiniGrid-DoorKey-8x8"
)
def run(
    level: Annotated[
        str,
        typer.Argument(
            help="A level's name (see `spca levels`), the path of a level file, or `minigrid:` and a MiniGrid level."
        ),
    ],
    transport: Annotated[
        str, typer.Option(help="`ros`: the real node graph; `inproc`: one process in lockstep.")
    ] = "ros",
    preset: Annotated[str, typer.Option(help="The table: nominal, shuffled, noisy or hard.")] = "nominal",
    seed: Annotated[int, typer.Option(help="Draws the table (except nominal) and the sensor's noise.")] = 0,
    noise: Annotated[bool, typer.Option(help="Sensor noise of the camera.")] = True,
    proposer: Annotated[str, typer.Option(help="`builtin` (no model needed), `openai`, or `auto`.")] = "auto",
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
    vision: Annotated[
        bool, typer.Option("--vision", help="A vision model adds remarks to what the detector sees.")
    ] = False,
    rate: Annotated[
        float | None, typer.Option(help="Real-time factor; as fast as it can by default.")
    ] = None,
    view: Annotated[bool, typer.Option("--view", help="Open a live window (needs a display).")] = False,
    camera: Annotated[str, typer.Option(help="`ray` (no GL needed) or `gl`.")] = "ray",
    world: Annotated[
        str, typer.Option(help="A world in worlds/ or a world file; by default the level's own.")
    ] = "",
    video: Annotated[bool, typer.Option(help="Render a video after the verdict.")] = True,
    out: Annotated[Path | None, typer.Option(help="The run's folder; a new one in runs/ by default.")] = None,
) -> None:
    """Run one level: look, plan, act, and let the referee judge. Exit status 0 success, 1 not solved, 2 bad input."""
    from spca.run_command import start_run
    from spca_core.options import RunOptions

    options = _checked(
        RunOptions, level=level, transport=transport, preset=preset, seed=seed, noise=noise, proposer=proposer,
        llm=llm, skills=skills, library=library, vision=vision, rate=rate, view=view, camera=camera, world=world, video=video,
    )  # fmt: skip
    raise typer.Exit(start_run(options, out))


@app.command(epilog="Example:  spca resume runs/20260101-120000_stack_01")
def resume(run_folder: Annotated[Path, typer.Argument(help="The folder of an interrupted run.")]) -> None:
    """Go on with a run where it was interrupted."""
    from spca.run_command import resume_run

    raise typer.Exit(resume_run(run_folder))


@app.command(epilog="Example:  spca report runs/20260101-120000_stack_01")
def report(run_folder: Annotated[Path, typer.Argument(help="The folder of a run.")]) -> None:
    """Make a run's report (and video and MCAP log) anew."""
    from spca.run_command import write_report

    typer.echo(write_report(run_folder))


@app.command()
def levels(
    minigrid: Annotated[bool, typer.Option("--minigrid", help="Those of the MiniGrid curriculum.")] = False,
) -> None:
    """List the levels."""
    from rich.console import Console
    from rich.table import Table

    if minigrid:
        from spca_minigrid.levels import curriculum

        table = Table("level", "category", "what it is like", box=None)
        for found in curriculum():
            table.add_row(f"minigrid:{found.name}", found.category, found.about)
        Console().print(table)
        return
    from spca_referee.level import list_levels, load_level

    table = Table("level", "task", "limit", box=None)
    for name in list_levels():
        level = load_level(name)
        table.add_row(name, level.description, f"{level.time_limit_s:g} s")
    Console().print(table)


@bench_app.command(
    "levels",
    epilog="Examples:  spca bench levels all --tables 20 · spca bench levels stack 'touch_0*' --preset hard · "
    "spca bench levels --out campaigns/monday   (again: goes on where it was)",
)
def bench_levels(
    levels: Annotated[
        list[str] | None, typer.Argument(help="Levels, patterns or groups; all by default.")
    ] = None,
    preset: Annotated[
        list[str] | None, typer.Option(help="nominal, shuffled, noisy, hard; repeatable.")
    ] = None,
    tables: Annotated[int, typer.Option(help="Tables a level.")] = 20,
    first_seed: Annotated[int, typer.Option(help="Seed of the first table.")] = 0,
    proposer: Annotated[str, typer.Option(help="As in `spca run`.")] = "builtin",
    out: Annotated[
        Path | None, typer.Option(help="The campaign's folder; an existing one is taken up again.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes of the local cluster; the cores by default.")
    ] = None,
    scheduler: Annotated[
        str, typer.Option(help="Address of an outside dask scheduler, tcp://HOST:8786.")
    ] = "",
    compare: Annotated[Path | None, typer.Option(help="An earlier campaign to compare with.")] = None,
) -> None:
    """Run levels on many tables, in parallel; results as JSONL and one HTML page. Exit status 0 if all were solved."""
    from spca.campaign.command import bench

    raise typer.Exit(
        bench(
            levels or ["all"],
            preset or ["shuffled"],
            tables,
            first_seed,
            proposer,
            out,
            workers,
            scheduler,
            compare,
        )
    )


@bench_app.command(
    "pddl",
    epilog="Examples:  spca bench pddl gripper rovers · spca bench pddl --model qwen3:8b --model qwen3:32b · "
    "spca bench pddl --llm replay:runs/20260101-120000_pddl",
)
def bench_pddl(
    domains: Annotated[
        list[str] | None, typer.Argument(help="Domains (blocksworld, gripper, …); all by default.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="In place of the configured one of planner_big; repeatable.")
    ] = None,
    attempts: Annotated[int, typer.Option(help="Drafts a task.")] = 8,
    trials: Annotated[int, typer.Option(help="How often each task is put to each model.")] = 1,
    timeout: Annotated[
        float, typer.Option(help="Seconds that the planner may search for each draft.")
    ] = 20.0,
    llm: Annotated[
        str, typer.Option(help="A model configuration (YAML), or `replay:FOLDER` of an earlier bench.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="The bench's folder; an existing one is taken up again.")
    ] = None,
) -> None:
    """From plain descriptions to PDDL: does a model's plan hold in the reference? Needs a configured model."""
    from spca.pddl_bench.command import bench_pddl as run_bench
    from spca.pddl_bench.run import PddlBench

    bench = _checked(
        PddlBench, models=tuple(model or ()), tasks=tuple(domains or ()), attempts=attempts, trials=trials,
        timeout_s=timeout, llm=llm,
    )  # fmt: skip
    run_bench(bench, out)


@app.command()
def doctor() -> None:
    """Say what this machine can run, version by version, and what to install for the rest."""
    from spca.doctor.command import doctor as examine

    examine()


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Examples:  spca test · spca test -k referee · spca test src/spca_sim",
)
def test(context: typer.Context) -> None:
    """Run the test suite of a checkout; arguments go to pytest."""
    from spca_core.paths import ROOT

    script = ROOT / "scripts" / "test"
    if not script.is_file():
        raise InputError("the test suite needs a checkout", where=str(ROOT))
    os.execv(script, [str(script), sys.executable, *context.args])


def _checked(kind: type[T], **values: object) -> T:
    """A record from command-line values; InputError naming the option that is wrong."""
    from pydantic import ValidationError

    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        option = "--" + ".".join(str(p) for p in first["loc"]).replace("_", "-")
        raise InputError(f"{option} {first['input']!r}", hint=first["msg"]) from error


def main() -> None:
    """Run the command line; errors become one line and an exit status."""
    try:
        status = app(standalone_mode=False)
    except InputError as error:
        _fail(str(error), EXIT_BAD_INPUT)
    except SpcaError as error:
        _fail(str(error), error.exit_status)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", 130)
    except Exception as error:
        if (show := getattr(error, "show", None)) is not None:  # click's own usage errors
            show()
            sys.exit(EXIT_BAD_INPUT)
        if os.environ.get("SPCA_TRACEBACK"):
            traceback.print_exc()
        _fail(f"{type(error).__name__}: {error} (SPCA_TRACEBACK=1 shows where)", EXIT_BROKEN)
    sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str, status: int) -> None:
    typer.secho(f"spca: {message}", fg="red", err=True)
    sys.exit(status)
