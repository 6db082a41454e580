"""`spca ipp`, `spca bench grasp` and `spca bench ipp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import BENCHES, Command
from spca.commands.options import takes
from spca_benchmarks.campaigns.command import BenchCommand, Llm, Usd
from spca_core.model import checked
from spca_programs.options import PROGRAMS, GraspOptions, IppOptions, Recipe, Slice

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
@takes("data", "store", of=IppOptions, to="where", store=None)
@takes("strategy", "refine", "patience", "train", "test", "seed", of=Recipe, refine=10, test=1000)
def write(
    task: Task,
    where: dict[str, Any],
    wanted: dict[str, Any],
    program: Annotated[
        str, typer.Option(help="Refine this one (id or file) instead of writing a new one.")
    ] = "",
    llm: Llm = "",
) -> None:
    """Have a language model write a program, refine it, test it and keep it."""
    from spca.console import results
    from spca_core.paths import RUNS
    from spca_core.run_folder import RunFolder
    from spca_llm.chat import open_chat
    from spca_programs.ipp.develop import Attempt, develop, history_of
    from spca_programs.ipp.dialogue import reach
    from spca_programs.ipp.store import ProgramStore
    from spca_programs.ipp.tasks import domain_of

    recipe, data = checked(Recipe, **wanted), where["data"]
    domain = domain_of(task, Path(data) if data else None)
    programs, console = ProgramStore(Path(where["store"] or PROGRAMS)), results()
    first = programs.find(task, program) if program else None

    def show(attempt: Attempt) -> None:
        mark = "[green]✓[/green]" if attempt.best else "[yellow]–[/yellow]"
        console.print(f"  {mark} {attempt.train.mean:.3f} in training  {attempt.program.origin.strategy}")

    reach(llm)
    chat = open_chat(llm, RunFolder.create(task, parent=RUNS).path / "llm")
    made = develop(domain, chat, recipe, first, show)
    console.print(history_of(made))
    console.print(f"kept in {programs.save(made)}", soft_wrap=True)


@takes("data", "seed", "deadline", of=GraspOptions)
@takes("energy", "obstacles", "start", "moves", "carry", "cost", "count", of=Slice, to="part", count=None)
def _grasp(
    policy: Annotated[str, typer.Argument(help=GraspOptions.model_fields["policy"].description)],
    wanted: dict[str, Any],
    part: dict[str, Any],
    usd: Usd = None,
) -> Any:
    """Score a policy on GRASP: all 16,000 environments, or any slice of them."""
    from spca_programs.grasp.bench import GraspBench

    chosen = checked(Slice, **{name: value for name, value in part.items() if value is not None})
    bench = checked(GraspBench, policy=policy, part=chosen, usd=usd, **wanted)
    if bench.asks_model and part["count"] is None:
        bench = bench.model_copy(update={"part": chosen.model_copy(update={"count": 10})})
    return bench


@takes(
    "programs", "models", "ways", "repeats", "train", "test", "rounds", "seed", "data", "store", "llm",
    of=IppOptions, programs=None, ways=None, store=None,
)  # fmt: skip
def _ipp(
    wanted: dict[str, Any],
    tasks: Annotated[
        list[str] | None, typer.Argument(help=IppOptions.model_fields["tasks"].description)
    ] = None,
    usd: Usd = None,
) -> Any:
    """Compare planning programs, models that write them, and models that plan directly, on the same cases."""
    from spca_benchmarks.campaigns.campaign import read_head
    from spca_programs.ipp.bench import WAYS, IppBench
    from spca_programs.ipp.tasks import task_names

    if wanted["llm"]:
        folder = Path(wanted["llm"].removeprefix("replay:")).resolve()
        return checked(IppBench, **{**read_head(folder).settings, "llm": f"replay:{folder}"})
    models, ways = [Path(model).resolve() for model in wanted["models"] or ()], wanted["ways"]
    wanted["programs"] = wanted["programs"] or (("random", "greedy") if models else ())
    wanted["ways"] = WAYS if ways == ["all"] else ways or ("direct",)
    given = {name: value for name, value in wanted.items() if value is not None}
    return checked(IppBench, **given | {"tasks": tasks or task_names(), "models": models, "usd": usd})


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
