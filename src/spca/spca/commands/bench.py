"""`spca bench`: campaigns that can be interrupted, resumed, compared and shown.

Heavy imports wait until one runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import BENCHES
from spca.commands.checked import checked

Llm = Annotated[
    str, typer.Option(help="A model configuration (YAML), or `replay:FOLDER` to answer from a record.")
]
Data = Annotated[
    Path | None, typer.Option(help="Folder of GRASP's released grids; generated ones by default.")
]
Out = Annotated[Path | None, typer.Option(help="The campaign's folder; an existing campaign is continued.")]
Workers = Annotated[
    int | None, typer.Option(help="Processes; the cores by default. With 1, no process is started.", min=1)
]
Scheduler = Annotated[str, typer.Option(help="Address of an outside dask scheduler, tcp://HOST:8786.")]
Compare = Annotated[Path | None, typer.Option(help="The folder of an earlier campaign to compare with.")]

bench_app = typer.Typer(
    help="Benchmarks. Every campaign is a folder with results (JSONL, CSV), settings and one page.",
    no_args_is_help=True,
)


def mount(app: typer.Typer) -> None:
    """Add `spca bench`."""
    app.add_typer(bench_app, name="bench", rich_help_panel=BENCHES)


@bench_app.command(
    "levels",
    epilog=(
        "Examples:  spca bench levels all --tables 20 · spca bench levels stack 'touch_0*' --preset hard · "
        "spca bench levels --out campaigns/monday   (run it again to continue)"
    ),
)
def bench_levels(
    levels: Annotated[
        list[str] | None, typer.Argument(help="Levels, patterns or groups; all by default.")
    ] = None,
    preset: Annotated[
        list[str] | None, typer.Option(help="nominal, shuffled, noisy, hard; repeatable.")
    ] = None,
    tables: Annotated[int, typer.Option(help="Tables per level.")] = 20,
    first_seed: Annotated[int, typer.Option(help="Seed of the first table.")] = 0,
    proposer: Annotated[str, typer.Option(help="As in `spca run`.")] = "builtin",
    transport: Annotated[
        str,
        typer.Option(
            help="`inproc`: lockstep; `ros`: trial after trial on the graph that `spca up` started."
        ),
    ] = "inproc",
    out: Out = None,
    workers: Workers = None,
    scheduler: Scheduler = "",
    compare: Compare = None,
) -> None:
    """Run levels on many tables, in parallel. Exit status 0 if all were solved."""
    from spca.api import select_levels
    from spca.benches.command import run_bench
    from spca.benches.levels import LevelsBench

    bench = checked(
        LevelsBench,
        levels=tuple(info.name for info in select_levels([] if levels == ["all"] else levels or [])),
        presets=preset or ["shuffled"], tables=tables, first_seed=first_seed, proposer=proposer,
        transport=transport,
    )  # fmt: skip
    one_graph = 1 if transport == "ros" else workers
    raise typer.Exit(run_bench(bench, out, one_graph, scheduler, compare))


@bench_app.command(
    "minigrid",
    epilog=(
        "Examples:  spca bench minigrid · spca bench minigrid hazard_avoidance,MiniGrid-DoorKey --seeds 20 "
        "· spca bench minigrid --proposer openai --skills empty"
    ),
)
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
    workers: Workers = None,
    scheduler: Scheduler = "",
    compare: Compare = None,
) -> None:
    """Run the MiniGrid curriculum: categories × seeds, next to the published figures."""
    from spca.benches.command import run_bench
    from spca.benches.minigrid import MinigridBench

    bench = checked(
        MinigridBench, levels=levels, seeds=seeds, first_seed=first_seed, proposer=proposer, llm=llm,
        skills=skills,
        library=library,
    )  # fmt: skip
    raise typer.Exit(run_bench(bench, out, workers, scheduler, compare))


@bench_app.command(
    "grasp",
    epilog=(
        "Examples:  spca bench grasp exact --data grids/ · "
        "spca bench grasp policy.py --count 10 --moves 8 · "
        "spca bench grasp greedy --out campaigns/greedy   (run it again to continue)"
    ),
)
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
    workers: Workers = None,
    scheduler: Scheduler = "",
) -> None:
    """Score a policy on GRASP: all 16,000 environments, or any slice of them."""
    from spca.benches.command import run_bench
    from spca_programs.grasp.bench import GraspBench
    from spca_programs.grasp.dataset import Slice

    part = checked(
        Slice,
        energy=energy,
        obstacles=obstacles,
        start=start,
        moves=moves,
        carry=carry,
        cost=cost,
        count=count,
    )
    bench = checked(GraspBench, policy=policy, data=data, seed=seed, part=part, deadline=deadline)
    raise typer.Exit(run_bench(bench, out, workers, scheduler))


@bench_app.command(
    "pddl",
    epilog="Examples:  spca bench pddl gripper rovers · spca bench pddl --model qwen3:8b --model qwen3:32b · "
    "spca bench pddl --llm replay:campaigns/20260101-120000_pddl",
)
def bench_pddl(
    domains: Annotated[
        list[str] | None, typer.Argument(help="Domains (blocksworld, gripper, …); all by default.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="In place of the configured one of planner_big; repeatable.")
    ] = None,
    attempts: Annotated[int, typer.Option(help="Drafts a task.", min=1)] = 10,
    trials: Annotated[int, typer.Option(help="Number of times each model gets each task.", min=1)] = 5,
    timeout: Annotated[
        float, typer.Option(help="Seconds that the planner may search for each draft.")
    ] = 20.0,
    llm: Llm = "",
    out: Out = None,
    workers: Workers = None,
    scheduler: Scheduler = "",
) -> None:
    """Measure how well models formalise described planning domains in PDDL.

    A plan counts if it is valid in the reference. Needs a configured model.
    """
    from spca.benches.command import run_bench
    from spca.benches.pddl.bench import PddlBench

    bench = checked(
        PddlBench, models=tuple(model or ()), tasks=tuple(domains or ()), attempts=attempts,
        trials_each=trials,
        timeout_s=timeout, llm=llm,
    )  # fmt: skip
    raise typer.Exit(run_bench(bench, out, workers, scheduler))


@bench_app.command(
    "ipp",
    epilog="Examples:  spca bench ipp grasp --program greedy --program example --program my.py · "
    "spca bench ipp grasp minigrid-doorkey --model a.yaml --model b.yaml --way direct "
    "--way steps+refine --repeats 3",
)
def bench_ipp(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            help="grasp, minigrid-unlock, minigrid-doorkey, minigrid-unlockpickup; all by default."
        ),
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "random, greedy, beam or exact (GRASP), example, a Python file, or the id of a "
                "stored program; repeatable."
            )
        ),
    ] = None,
    model: Annotated[
        list[Path] | None, typer.Option(help="A model configuration (YAML); repeatable.")
    ] = None,
    way: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "direct, pseudocode, steps, each with or without +refine; zero-shot, "
                "chain-of-thought, two-step; repeatable."
            )
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Number of times each model tries each strategy.", min=1)] = 1,
    train: Annotated[int, typer.Option(help="Training cases.", min=1)] = 160,
    test: Annotated[int, typer.Option(help="Test cases, the same for all.", min=1)] = 200,
    rounds: Annotated[int, typer.Option(help="Rounds of refinement at most.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Draws the cases.")] = 0,
    data: Data = None,
    store: Annotated[
        Path | None, typer.Option(help="Where programs are kept; library/programs by default.")
    ] = None,
    out: Out = None,
    workers: Workers = None,
    scheduler: Scheduler = "",
) -> None:
    """Compare planning programs, models that write them, and models that plan directly, on the same cases."""
    from spca.benches.command import run_bench
    from spca_programs.ipp.bench import IppBench
    from spca_programs.ipp.store import PROGRAMS
    from spca_programs.ipp.tasks import task_names

    bench = checked(
        IppBench, tasks=tuple(tasks or task_names()), programs=tuple(program or ()),
        models=tuple(m.resolve() for m in model or ()), ways=tuple(way or ("direct",)), repeats=repeats,
        train=train,
        test=test, rounds=rounds, seed=seed, data=data, store=store or PROGRAMS,
    )  # fmt: skip
    raise typer.Exit(run_bench(bench, out, workers, scheduler))


@bench_app.command(
    "models",
    epilog="Examples:  spca bench models --model a.yaml --model b.yaml --model builtin --tables 5 · "
    "spca bench models --model a.yaml --variant full --variant no-reuse --levels stack --usd 5 · "
    "spca bench models --llm replay:campaigns/20260101-120000_models",
)
def bench_models(
    model: Annotated[
        list[str] | None, typer.Option(help="A model configuration (YAML), or `builtin`; repeatable.")
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            help="Levels, patterns or groups, taken in this order; the published groups by default."
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="full, no-reuse, no-repair, no-replanning, vision; repeatable."),
    ] = None,
    tables: Annotated[
        int,
        typer.Option(
            "--tables", "--trials", help="Tables; each model starts from an empty library on each.", min=1
        ),
    ] = 5,
    first_seed: Annotated[int, typer.Option(help="Seed of the first table.", min=0)] = 0,
    preset: Annotated[str, typer.Option(help="nominal, shuffled, noisy or hard.")] = "shuffled",
    usd: Annotated[float | None, typer.Option(help="Price limit of the campaign, in US dollars.")] = None,
    llm: Annotated[
        str, typer.Option(help="`replay:FOLDER`: repeat an earlier campaign from its recorded answers.")
    ] = "",
    out: Out = None,
    workers: Workers = None,
    scheduler: Scheduler = "",
    compare: Compare = None,
) -> None:
    """Compare language models on the same levels and tables; each learns for itself.

    See docs/compare-models.md.
    """
    from spca.api import select_levels
    from spca.benches import bench_in
    from spca.benches.command import run_bench
    from spca.benches.models import BUILTIN, ModelsBench
    from spca_core.errors import InputError

    if llm:
        if not llm.startswith("replay:") or model:
            raise InputError(f"--llm {llm!r}", hint="use replay:FOLDER, without --model")
        folder = Path(llm.removeprefix("replay:")).resolve()
        bench = bench_in(folder).model_copy(update={"llm": f"replay:{folder}"})
    else:
        curriculum = levels or ["touch", "pickup", "pick_and_place", "stack"]
        bench = checked(
            ModelsBench, models=tuple(m if m == BUILTIN else str(Path(m).resolve()) for m in model or ()),
            levels=tuple(dict.fromkeys(info.name for part in curriculum for info in select_levels([part]))),
            variants=tuple(variant or ("full",)), tables=tables, first_seed=first_seed, preset=preset,
            usd=usd,
        )  # fmt: skip
    raise typer.Exit(run_bench(bench, out, workers, scheduler, compare))


@bench_app.command("resume", epilog="Example:  spca bench resume campaigns/20260101-120000_levels")
def resume(
    folder: Annotated[Path, typer.Argument(help="The folder of a campaign.")],
    workers: Workers = None,
    scheduler: Scheduler = "",
    compare: Compare = None,
) -> None:
    """Continue a campaign: run the trials that have no result yet and those that broke."""
    from spca.benches import bench_in
    from spca.benches.command import run_bench

    raise typer.Exit(run_bench(bench_in(folder), folder, workers, scheduler, compare))


@bench_app.command("show", epilog="Example:  spca bench show campaigns/20260101-120000_levels")
def show(
    folder: Annotated[Path, typer.Argument(help="The folder of a campaign.")],
    compare: Compare = None,
) -> None:
    """Show a campaign's table and write its page and tables again, without running any trial."""
    from spca.benches import bench_in
    from spca.benches.command import show_campaign

    show_campaign(bench_in(folder), folder, compare)
