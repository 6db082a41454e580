"""`spca ipp`, `spca bench grasp` and `spca bench ipp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import BENCHES, Command
from spca_benchmarks.campaigns.command import BenchCommand, Llm, Usd
from spca_core.model import checked

Data = Annotated[
    Path | None, typer.Option(help="Folder of GRASP's released grids; generated ones by default.")
]
Train = Annotated[int, typer.Option(help="Training cases.", min=1)]
Seed = Annotated[int, typer.Option(help="Draws the cases.")]
Store = Annotated[Path | None, typer.Option(help="Where programs are kept; library/programs by default.")]

ipp_app = typer.Typer(
    help="Programs that plan for every instance of a task, written by a language model.", no_args_is_help=True
)

Task = Annotated[
    str, typer.Argument(help="grasp, minigrid-unlock, minigrid-doorkey or minigrid-unlockpickup.")
]


def mount(app: typer.Typer) -> None:
    """Add `spca ipp`."""
    app.add_typer(ipp_app, name="ipp", rich_help_panel=BENCHES)


COMMAND = Command(mount)


@ipp_app.command(epilog="Example:  spca ipp write grasp --strategy steps --refine 10 --llm llm.yaml")
def write(
    task: Task,
    strategy: Annotated[str, typer.Option(help="direct, pseudocode or steps.")] = "direct",
    refine: Annotated[int, typer.Option(help="Rounds of refinement at most.", min=0)] = 10,
    patience: Annotated[int, typer.Option(help="Rounds without improvement before it ends.", min=1)] = 1,
    program: Annotated[
        str, typer.Option(help="Refine this one (id or file) instead of writing a new one.")
    ] = "",
    train: Train = 160,
    test: Annotated[int, typer.Option(help="Test cases.", min=1)] = 1000,
    seed: Seed = 0,
    llm: Llm = "",
    data: Data = None,
    store: Store = None,
) -> None:
    """Have a language model write a program, refine it, test it and keep it."""
    from spca.console import results
    from spca_core.paths import RUNS
    from spca_core.run_folder import RunFolder
    from spca_llm.chat import open_chat
    from spca_programs.ipp.develop import Recipe, develop, history_of
    from spca_programs.ipp.dialogue import reach
    from spca_programs.ipp.refinement import Attempt
    from spca_programs.ipp.store import PROGRAMS, ProgramStore
    from spca_programs.ipp.tasks import domain_of

    recipe = checked(
        Recipe, strategy=strategy, refine=refine, patience=patience, train=train, test=test, seed=seed
    )
    domain, programs, console = domain_of(task, data), ProgramStore(store or PROGRAMS), results()
    first = programs.find(task, program) if program else None

    def show(attempt: Attempt) -> None:
        mark = "[green]✓[/green]" if attempt.best else "[yellow]–[/yellow]"
        console.print(f"  {mark} {attempt.train.mean:.3f} in training  {attempt.program.origin.strategy}")

    reach(llm)
    chat = open_chat(llm, RunFolder.create(task, parent=RUNS).path / "llm")
    made = develop(domain, chat, recipe, first, show)
    console.print(history_of(made))
    console.print(f"kept in {programs.save(made)}", soft_wrap=True)


def _grasp(
    policy: Annotated[
        str,
        typer.Argument(
            help="random, greedy, exact, a Python file with `solve`, a model's configuration (YAML), "
            "or `replay:FOLDER`."
        ),
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
    count: Annotated[
        int | None, typer.Option(help="Grids of each family; 100, but 10 for a model, as published.", min=1)
    ] = None,
    deadline: Annotated[float, typer.Option(help="Seconds a program has for one environment.")] = 2.0,
    usd: Usd = None,
) -> Any:
    """Score a policy on GRASP: all 16,000 environments, or any slice of them."""
    from spca_programs.grasp.bench import GraspBench
    from spca_programs.grasp.dataset import Slice

    part = checked(
        Slice, energy=energy, obstacles=obstacles, start=start, moves=moves, carry=carry, cost=cost,
        count=count or 100,
    )  # fmt: skip
    bench = checked(GraspBench, policy=policy, data=data, seed=seed, part=part, deadline=deadline, usd=usd)
    if bench.asks_model and count is None:
        bench = bench.model_copy(update={"part": part.model_copy(update={"count": 10})})
    return bench


def _ipp(
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
                "random, greedy or exact (GRASP), example, a Python file, or the id of a "
                "stored program; repeatable. With models: random and greedy by default."
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
                "chain-of-thought, two-step, or all; repeatable."
            )
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Number of times each model tries each strategy.", min=1)] = 1,
    train: Train = 160,
    test: Annotated[int, typer.Option(help="Test cases, the same for all.", min=1)] = 200,
    rounds: Annotated[int, typer.Option(help="Rounds of refinement at most.", min=1)] = 10,
    seed: Seed = 0,
    data: Data = None,
    store: Store = None,
    usd: Usd = None,
    llm: Annotated[
        str, typer.Option(help="`replay:FOLDER`: repeat an earlier campaign from its recorded answers.")
    ] = "",
) -> Any:
    """Compare planning programs, models that write them, and models that plan directly, on the same cases."""
    from spca_benchmarks.campaigns.campaign import read_head
    from spca_programs.ipp.bench import WAYS, IppBench
    from spca_programs.ipp.store import PROGRAMS
    from spca_programs.ipp.tasks import task_names

    if llm:
        folder = Path(llm.removeprefix("replay:")).resolve()
        return checked(IppBench, **{**read_head(folder).settings, "llm": f"replay:{folder}"})
    return checked(
        IppBench, tasks=tuple(tasks or task_names()),
        programs=tuple(program if program is not None else ("random", "greedy") if model else ()),
        models=tuple(m.resolve() for m in model or ()),
        ways=WAYS if way == ["all"] else tuple(way or ("direct",)), repeats=repeats,
        train=train, test=test, rounds=rounds, seed=seed, data=data, store=store or PROGRAMS, usd=usd,
    )  # fmt: skip


GRASP = BenchCommand(
    "spca_programs.grasp.bench:GraspBench",
    _grasp,
    "spca bench grasp greedy · spca bench grasp exact --data grids/ · "
    "spca bench grasp policy.py --count 10 --moves 8 · "
    "spca bench grasp greedy --out campaigns/greedy   (run it again to continue)",
)
IPP = BenchCommand(
    "spca_programs.ipp.bench:IppBench",
    _ipp,
    "spca bench ipp grasp --program greedy --program example --program my.py · "
    "spca bench ipp grasp minigrid-doorkey --model a.yaml --model b.yaml --way direct "
    "--way steps+refine --repeats 3",
)
