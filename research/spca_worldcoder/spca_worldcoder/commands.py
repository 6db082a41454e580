"""`spca learn` and `spca bench worldcoder`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import BENCHES, Command
from spca.commands.options import takes
from spca_benchmarks.campaigns.command import BenchCommand
from spca_core.model import checked
from spca_worldcoder import OPTIONS
from spca_worldcoder.options import EPSILON, BenchOptions, LearnOptions, Settings, WorldOptions


def mount(app: typer.Typer) -> None:
    """Add `spca learn`."""
    app.command(
        rich_help_panel=BENCHES,
        epilog=(
            "Examples:  spca learn sokoban · spca learn sokoban --boxes 3 --size 8 --seed 4 · "
            "spca learn minigrid · spca learn minigrid --environment UnlockPickup · "
            "spca learn minigrid --synthesizer language --llm llm.yaml"
        ),
    )(learn)


def resume(folder: Path) -> int:
    """Continue an interrupted run; return the exit status."""
    from spca_worldcoder.run import resume
    from spca_worldcoder.terminal import learn

    return learn(partial(resume, folder))


LEARN = Command(mount, OPTIONS, resume)


@takes("environments", "boxes", "size", of=WorldOptions, to="worlds")
@takes("synthesizer", "llm", "temperature", of=LearnOptions)
@takes(
    "seed", "epsilon", "steps", "curiosity", "strategy", "planner", "optimism", "transfer", "questions",
    "episodes",
    of=Settings, to="settings", epsilon=None, curiosity=None, questions=None,
)  # fmt: skip
def learn(
    world: Annotated[str, typer.Argument(help=WorldOptions.model_fields["world"].description)],
    worlds: dict[str, Any],
    wanted: dict[str, Any],
    settings: dict[str, Any],
    out: Annotated[Path | None, typer.Option(help="The run's folder; a new one in runs/ by default.")] = None,
) -> None:
    """Learn the rules of a world as a program and plan in it.

    Exit status 0 learned, 1 not learned, 2 bad input. `spca resume` continues an interrupted run.
    """
    from spca_worldcoder.run import start
    from spca_worldcoder.terminal import learn as run

    worlds["environments"] = named = tuple(worlds["environments"] or ())
    several = len(named) > 1 or (world == "minigrid" and not named)
    own = {
        "curiosity": 20 if world == "sokoban" else 0,
        "epsilon": EPSILON if wanted["synthesizer"] == "language" else 0.0,
        "questions": 300 if several else 200,
    }
    chosen = own | {name: value for name, value in settings.items() if value is not None}
    chosen_worlds, chosen_settings = checked(WorldOptions, world=world, **worlds), checked(Settings, **chosen)
    options = checked(LearnOptions, worlds=chosen_worlds, settings=chosen_settings, **wanted)
    raise typer.Exit(run(partial(start, options, out)))


@takes("seeds", "first_seed", "levels", "models", "synthesizer", "ppo", of=BenchOptions)
def _worldcoder(
    wanted: dict[str, Any],
    suites: Annotated[
        list[str] | None, typer.Argument(help=BenchOptions.model_fields["suites"].description)
    ] = None,
) -> Any:
    """Learn worlds and variants of them on several seeds.

    Reports actions, programs, seconds, unseen levels, ablations and baselines.
    """
    from spca_worldcoder.bench.bench import WorldcoderBench

    wanted["models"] = tuple(wanted["models"] or ())
    return checked(WorldcoderBench, suites=tuple(suites or ()), **wanted)


WORLDCODER = BenchCommand(
    "spca_worldcoder.bench.bench:WorldcoderBench",
    _worldcoder,
    "spca bench worldcoder · spca bench worldcoder sokoban UnlockPickup --seeds 3 · "
    "spca bench worldcoder UnlockPickup --synthesizer language --model a.yaml --model b.yaml · "
    "spca bench worldcoder sokoban --levels 200 --out campaigns/sokoban   (run it again to continue)",
)
