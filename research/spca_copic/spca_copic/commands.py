"""`spca copic` and `spca bench copic`: planning programs, and a selector that learns which to follow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import BENCHES, Command
from spca_benchmarks.campaigns.command import BenchCommand, Llm
from spca_core.extensions import installed
from spca_core.model import checked

_WORLDS = ", ".join(installed("spca.plan_worlds"))
World = Annotated[str, typer.Argument(help=f"{_WORLDS}, `file.py:factory` or `module:factory`.")]
Task = Annotated[list[str] | None, typer.Option(help="Task type; repeatable, all by default.")]
Run = Annotated[
    Path | None, typer.Option("--run", help="A training's folder; the newest of the world by default.")
]
Programs = Annotated[
    int, typer.Option(help="Programs that propose; 0: 3 or 5, as the world says.", min=0, max=12)
]
Proposer = Annotated[str, typer.Option(help="`grammar`, a stand-in for a model, or `model`.")]
SelectorName = Annotated[
    str, typer.Option("--selector", help="`hashed`, `language` (optional), or `judge`: a model.")
]
Temperature = Annotated[float, typer.Option(help="Of the model that writes programs.")]
Evolve = Annotated[bool, typer.Option(help="Write better programs between trials.")]
Published = Annotated[bool, typer.Option("--published", help="Only what the paper does.")]
OnTestCases = Annotated[bool, typer.Option("--on-test-cases", help="Learn on the cases of the test.")]
Count = Annotated[int, typer.Option(help="Test cases of each task type.", min=1)]

copic_app = typer.Typer(
    help="CoPiC: programs propose plans, a selector that learns from experience chooses.",
    no_args_is_help=True,
)


def mount(app: typer.Typer) -> None:
    """Add `spca copic`."""
    app.add_typer(copic_app, name="copic", rich_help_panel=BENCHES)


COMMAND = Command(mount)


@copic_app.command(
    epilog=(
        "Examples:  spca copic train build_order · "
        "spca copic train build_order --task superhard --programs 6 · "
        "spca copic train household --proposer model --llm llm.yaml · "
        "spca copic train build_order --out runs/mine   (run it again to continue)"
    )
)
def train(
    world: World,
    task: Task = None,
    programs: Programs = 0,
    trials: Annotated[int, typer.Option(help="Trials at most.", min=1)] = 10,
    episodes: Annotated[int, typer.Option(help="Episodes of a trial; 0: as the world says.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Draws cases, programs and choices.", min=0)] = 0,
    proposer: Proposer = "grammar",
    selector: SelectorName = "hashed",
    temperature: Temperature = 0.6,
    evolve: Evolve = True,
    elites: Annotated[bool, typer.Option(help="Keep the best of old and new programs.")] = True,
    frozen: Annotated[
        str, typer.Option(help="A training's folder: its selector, as it is, over new programs.")
    ] = "",
    experience: Annotated[
        str, typer.Option(help="A training's folder, whose episodes a model is shown before it writes.")
    ] = "",
    on_test_cases: OnTestCases = False,
    published: Published = False,
    llm: Llm = "",
    out: Annotated[Path | None, typer.Option(help="The folder; an existing training is continued.")] = None,
) -> None:
    """Write programs, train the selector by trying them, and evolve them; everything is kept in a folder."""
    from spca_copic.recipe import Recipe
    from spca_copic.terminal import train_command

    recipe = checked(
        Recipe, programs=programs, trials=trials, episodes=episodes, seed=seed, proposer=proposer,
        selector=selector, temperature=temperature,
        evolve=evolve, elites=elites, frozen=frozen, experience=experience, on_test_cases=on_test_cases,
        published=published,
    )  # fmt: skip
    raise typer.Exit(train_command(world, task or [], recipe, llm, out))


@copic_app.command(
    epilog="Example:  spca copic test build_order --run runs/20260101-120000_copic_build_order --cases 20"
)
def test(world: World, task: Task = None, run: Run = None, cases: Count = 20) -> None:
    """Run the trained programs and selector, frozen, on cases that they have never seen.

    No model is asked.
    """
    from spca_copic.terminal import compare_command

    raise typer.Exit(compare_command(world, task or [], run, cases, ["selector"], ""))


@copic_app.command(
    epilog=(
        "Examples:  spca copic compare build_order · "
        "spca copic compare household --task heat --policy selector --policy judge --llm llm.yaml"
    )
)
def compare(
    world: World,
    task: Task = None,
    run: Run = None,
    cases: Count = 20,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="selector, random, programs (each alone), oracle; of a model: judge, vanilla, react, cot, "
            "cot-few, reflexion, prospector, adaplanner, repl-plan, llm-dp; repeatable."
        ),
    ] = None,
    llm: Llm = "",
) -> None:
    """Compare the selector with other ways to choose, on the same unseen cases."""
    from spca_copic.evaluation import BUILTIN
    from spca_copic.terminal import compare_command

    raise typer.Exit(compare_command(world, task or [], run, cases, policy or list(BUILTIN), llm))


def _copic(
    worlds: Annotated[list[str] | None, typer.Argument(help="Worlds; build_order by default.")] = None,
    task: Task = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each task type.", min=1)] = 5,
    cases: Count = 20,
    programs: Programs = 0,
    proposer: Proposer = "grammar",
    selector: SelectorName = "hashed",
    temperature: Temperature = 0.6,
    evolve: Evolve = True,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Then new programs, under the selector that was learned.")
    ] = False,
    on_test_cases: OnTestCases = False,
    published: Published = False,
    tables: Annotated[
        int, typer.Option(help="Hidden tables; seed s has table s modulo so many (household).", min=1)
    ] = 1,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Also a model's: judge, vanilla, react, cot, cot-few, reflexion, prospector, adaplanner, "
            "repl-plan, llm-dp; repeatable."
        ),
    ] = None,
    llm: Annotated[
        str, typer.Option(help="A model configuration (YAML) for the proposer and these policies.")
    ] = "",
) -> Any:
    """Train with several seeds and test on unseen cases.

    Baselines are random choice, single programs and an oracle.
    """
    from spca_copic.bench import CopicBench
    from spca_copic.evaluation import BUILTIN
    from spca_copic.recipe import Recipe

    recipe = checked(
        Recipe, programs=programs, proposer=proposer, selector=selector, temperature=temperature,
        evolve=evolve, on_test_cases=on_test_cases, published=published,
    )  # fmt: skip
    return checked(
        CopicBench, worlds=worlds or ["build_order"], tasks=task or [], seeds=seeds, cases=cases,
        recipe=recipe, tables=tables, frozen=frozen,
        policies=(*BUILTIN, *(policy or ())), llm=llm,
    )  # fmt: skip


COPIC = BenchCommand(
    "spca_copic.bench:CopicBench",
    _copic,
    "spca bench copic build_order --seeds 5 · spca bench copic household --task heat --cases 20 · "
    "spca bench copic household --proposer model --published --policy cot --policy reflexion --llm llm.yaml",
)
