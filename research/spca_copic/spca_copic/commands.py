"""`spca copic` and `spca bench copic`: planning programs, and a selector that learns which to follow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import BENCHES, Command
from spca.commands.options import takes
from spca_benchmarks.campaigns.command import BenchCommand, Llm
from spca_copic.recipe import BUILTIN, WITH_MODEL, BenchOptions, Recipe
from spca_core.extensions import installed
from spca_core.model import checked

_WORLDS = ", ".join(installed("spca.plan_worlds"))
World = Annotated[str, typer.Argument(help=f"{_WORLDS}, `file.py:factory` or `module:factory`.")]
Task = Annotated[list[str] | None, typer.Option(help="Task type; repeatable, all by default.")]
Run = Annotated[
    Path | None, typer.Option("--run", help="A training's folder; the newest of the world by default.")
]
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
@takes(
    "programs", "trials", "episodes", "seed", "proposer", "selector", "temperature", "evolve", "elites",
    "frozen", "experience", "on_test_cases", "published",
    of=Recipe,
)  # fmt: skip
def train(
    world: World,
    wanted: dict[str, Any],
    task: Task = None,
    llm: Llm = "",
    out: Annotated[Path | None, typer.Option(help="The folder; an existing training is continued.")] = None,
) -> None:
    """Write programs, train the selector by trying them, and evolve them; everything is kept in a folder."""
    from spca_copic.terminal import train_command

    raise typer.Exit(train_command(world, task or [], checked(Recipe, **wanted), llm, out))


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
            help="selector, random, programs (each alone), oracle; of a model: "
            f"{', '.join(WITH_MODEL)}; repeatable."
        ),
    ] = None,
    llm: Llm = "",
) -> None:
    """Compare the selector with other ways to choose, on the same unseen cases."""
    from spca_copic.terminal import compare_command

    raise typer.Exit(compare_command(world, task or [], run, cases, policy or list(BUILTIN), llm))


@takes("tasks", "seeds", "cases", "frozen", "tables", "policies", "llm", of=BenchOptions, policies=())
@takes(
    "programs", "proposer", "selector", "temperature", "evolve", "on_test_cases", "published",
    of=Recipe, to="recipe",
)  # fmt: skip
def _copic(
    recipe: dict[str, Any],
    wanted: dict[str, Any],
    worlds: Annotated[list[str] | None, typer.Argument(help="Worlds; build_order by default.")] = None,
) -> Any:
    """Train with several seeds and test on unseen cases.

    Baselines are random choice, single programs and an oracle.
    """
    from spca_copic.bench import CopicBench

    policies = (*BUILTIN, *(wanted.pop("policies") or ()))
    asked = wanted | {"policies": policies, "worlds": worlds or ["build_order"]}
    return checked(CopicBench, **asked, recipe=checked(Recipe, **recipe))


COPIC = BenchCommand(
    "spca_copic.bench:CopicBench",
    _copic,
    "spca bench copic build_order --seeds 5 · spca bench copic household --task heat --cases 20 · "
    "spca bench copic household --proposer model --published --policy cot --policy reflexion --llm llm.yaml",
)
