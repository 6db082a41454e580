"""The grid worlds' part of the command line. Heavy imports wait until a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from spca_core.errors import InputError
from spca_core.validation import first_problem

T = TypeVar("T", bound=BaseModel)

Llm = Annotated[
    str, typer.Option(help="A model configuration (YAML), or `replay:FOLDER` to answer from a record.")
]
Data = Annotated[
    Path | None, typer.Option(help="Folder of GRASP's released grids; generated ones by default.")
]
Out = Annotated[Path | None, typer.Option(help="The bench's folder; an existing one is taken up again.")]
Workers = Annotated[int, typer.Option(help="Processes.", min=1)]
Task = Annotated[
    str, typer.Argument(help="grasp, minigrid-unlock, minigrid-doorkey or minigrid-unlockpickup.")
]

ipp_app = typer.Typer(
    help="Programs that plan for every instance of a task, written by a language model.", no_args_is_help=True
)


def mount(app: typer.Typer, bench_app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.add_typer(ipp_app, name="ipp")
    bench_app.command(
        "grasp",
        epilog="Examples:  spca bench grasp exact --data grids/ · spca bench grasp policy.py --count 10 --moves 8 · "
        "spca bench grasp greedy --out campaigns/greedy   (again: goes on where it was)",
    )(bench_grasp)
    bench_app.command(
        "minigrid",
        epilog="Examples:  spca bench minigrid · spca bench minigrid hazard_avoidance,MiniGrid-DoorKey --seeds 20 · "
        "spca bench minigrid --proposer openai --skills empty",
    )(bench_minigrid)


def bench_grasp(
    policy: Annotated[
        str, typer.Argument(help="random, greedy, beam, exact, or a Python file with `solve`.")
    ],
    data: Data = None,
    seed: Annotated[
        int, typer.Option(help="Draws the grids (unless released ones are given), and chance.")
    ] = 0,
    energy: Annotated[
        str | None, typer.Option(help="random, vertical, horizontal, cluster or spiral.")
    ] = None,
    obstacles: Annotated[bool | None, typer.Option(help="Only grids with, or without, obstacles.")] = None,
    start: Annotated[str | None, typer.Option(help="inner or outer.")] = None,
    moves: Annotated[int | None, typer.Option(help="4, or 8 with diagonals.")] = None,
    carry: Annotated[str | None, typer.Option(help="Carry limit: none or 2.")] = None,
    cost: Annotated[float | None, typer.Option(help="Cost of an action: 0 or 0.3.")] = None,
    count: Annotated[int, typer.Option(help="Grids of each family.", min=1)] = 100,
    deadline: Annotated[float, typer.Option(help="Seconds a program has for one environment.")] = 2.0,
    out: Out = None,
    workers: Workers = 2,
) -> None:
    """Score a policy on GRASP: all 16,000 environments, or any slice of them."""
    from spca.grid.command import bench_grasp as run
    from spca_programs.grasp.bench import GraspBench
    from spca_programs.grasp.dataset import Slice

    part = _checked(
        Slice,
        energy=energy,
        obstacles=obstacles,
        start=start,
        moves=moves,
        carry=carry,
        cost=cost,
        count=count,
    )
    bench = _checked(GraspBench, policy=policy, data=data, seed=seed, part=part, deadline=deadline)
    raise typer.Exit(run(bench, out, workers))


def bench_minigrid(
    levels: Annotated[
        str, typer.Argument(help="Categories or levels (beginnings, comma-separated); all by default.")
    ] = "",
    seeds: Annotated[int, typer.Option(help="Seeds a level.", min=1)] = 5,
    first_seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    proposer: Annotated[str, typer.Option(help="`builtin` (no model needed) or `openai`.")] = "builtin",
    llm: Llm = "",
    skills: Annotated[
        str, typer.Option(help="Skills at the start: builtin, trusted, empty, or auto.")
    ] = "auto",
    library: Annotated[
        Path | None, typer.Option(help="Folder of what is learned; library/ by default.")
    ] = None,
    out: Out = None,
    workers: Workers = 2,
) -> None:
    """Run the MiniGrid curriculum: categories × seeds, beside the published figures."""
    from spca.grid.command import bench_minigrid as run
    from spca_minigrid.bench import MinigridBench

    bench = _checked(
        MinigridBench, levels=levels, seeds=seeds, first_seed=first_seed, proposer=proposer, llm=llm, skills=skills,
        library=library,
    )  # fmt: skip
    raise typer.Exit(run(bench, out, workers))


@ipp_app.command(epilog="Example:  spca ipp write grasp --strategy steps --refine 10 --llm llm.yaml")
def write(
    task: Task,
    strategy: Annotated[str, typer.Option(help="direct, pseudocode or steps.")] = "direct",
    refine: Annotated[int, typer.Option(help="Rounds of refinement at most.", min=0)] = 10,
    patience: Annotated[int, typer.Option(help="Rounds without improvement before it ends.", min=1)] = 1,
    program: Annotated[
        str, typer.Option(help="Refine this one (id or file) instead of writing a new one.")
    ] = "",
    train: Annotated[int, typer.Option(help="Training cases.", min=1)] = 160,
    test: Annotated[int, typer.Option(help="Test cases.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Draws the cases.")] = 0,
    llm: Llm = "",
    data: Data = None,
    store: Annotated[
        Path | None, typer.Option(help="Where programs are kept; library/programs by default.")
    ] = None,
) -> None:
    """Have a language model write a program, refine it, test it and keep it."""
    from spca.grid.programs import write_program
    from spca_programs.ipp.develop import Recipe

    recipe = _checked(
        Recipe, strategy=strategy, refine=refine, patience=patience, train=train, test=test, seed=seed
    )
    write_program(task, recipe, program, llm, data, store)


@ipp_app.command(epilog="Example:  spca ipp compare grasp my_policy.py 3f2a --test 1600")
def compare(
    task: Task,
    programs: Annotated[
        list[str] | None, typer.Argument(help="Ids or files; all that are stored by default.")
    ] = None,
    test: Annotated[int, typer.Option(help="Cases.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Draws the cases.")] = 0,
    data: Data = None,
    store: Annotated[
        Path | None, typer.Option(help="Where programs are kept; library/programs by default.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="An HTML page with the figures and the programs.")] = None,
) -> None:
    """Run programs on the same cases and show their figures."""
    from spca.grid.programs import compare_programs

    compare_programs(task, programs or [], test, seed, data, store, out)


@ipp_app.command(epilog="Example:  spca ipp think grasp --method two-step --cases 20")
def think(
    task: Task,
    method: Annotated[str, typer.Option(help="chain-of-thought or two-step.")] = "chain-of-thought",
    cases: Annotated[int, typer.Option(help="Cases; each costs a question or two.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Draws the cases.")] = 0,
    llm: Llm = "",
    data: Data = None,
) -> None:
    """Let a language model plan without a program, case by case, for comparison."""
    from spca.grid.programs import think_about

    think_about(task, method, cases, seed, llm, data)


def _checked(kind: type[T], **values: object) -> T:
    """A record from command-line values; InputError naming the option that is wrong."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise InputError(f"--{first_problem(error)}") from error
