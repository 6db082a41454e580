"""`spca learn` and `spca bench worldcoder`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import BENCHES, Command
from spca_benchmarks.campaigns.command import BenchCommand, FirstSeed
from spca_core.model import checked
from spca_worldcoder import OPTIONS


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


def learn(
    world: Annotated[
        str, typer.Argument(help="sokoban, minigrid, another package's, file.py:factory or module:factory.")
    ],
    environment: Annotated[
        list[str] | None,
        typer.Option(
            help="Environments in their order (UnlockPickup, …); the world's curriculum by default."
        ),
    ] = None,
    boxes: Annotated[int, typer.Option(help="Boxes of Sokoban, 1 to 8.")] = 2,
    size: Annotated[int, typer.Option(help="Cells along each side of Sokoban, 5 to 12.")] = 7,
    seed: Annotated[int, typer.Option(help="Random seed of episodes and of chance.")] = 0,
    synthesizer: Annotated[
        str, typer.Option(help="Who writes the program: `inductive` (built in) or `language` (a model).")
    ] = "inductive",
    llm: Annotated[
        str, typer.Option(help="A model configuration (YAML), or `replay:FOLDER` to answer from a record.")
    ] = "",
    temperature: Annotated[float, typer.Option(help="Temperature of the model.")] = 1.0,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Share of actions at random; 0.05 for a model, as published, 0 for the built-in."),
    ] = None,
    steps: Annotated[int, typer.Option(help="Maximum number of actions per episode.")] = 100,
    curiosity: Annotated[
        int | None,
        typer.Option(help="Initial actions that may be spent on untried steps; 20 in Sokoban, else 0."),
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="Which program is refined: bandit, greedy or breadth.")
    ] = "bandit",
    planner: Annotated[
        str, typer.Option(help="`width` (ours) or `value` (value iteration, as published).")
    ] = "width",
    optimism: Annotated[bool, typer.Option(help="Require that programs can reach a reward.")] = True,
    transfer: Annotated[bool, typer.Option(help="Keep program and data for the next environment.")] = True,
    questions: Annotated[
        int | None, typer.Option(help="Questions to a model at most; 200, 300 for several environments.")
    ] = None,
    episodes: Annotated[int, typer.Option(help="Maximum number of episodes per environment.")] = 200,
    out: Annotated[Path | None, typer.Option(help="The run's folder; a new one in runs/ by default.")] = None,
) -> None:
    """Learn the rules of a world as a program and plan in it.

    Exit status 0 learned, 1 not learned, 2 bad input. `spca resume` continues an interrupted run.
    """
    from spca_worldcoder.agent.settings import EPSILON, Settings
    from spca_worldcoder.run import LearnOptions, start
    from spca_worldcoder.terminal import learn as run
    from spca_worldcoder.worlds.catalogue import WorldOptions

    worlds = checked(WorldOptions, world=world, environments=tuple(environment or ()), boxes=boxes, size=size)
    if curiosity is None:
        curiosity = 20 if world == "sokoban" else 0
    if epsilon is None:
        epsilon = EPSILON if synthesizer == "language" else 0.0
    most = 300 if len(environment or ()) > 1 or (world == "minigrid" and not environment) else 200
    settings = checked(
        Settings, seed=seed, epsilon=epsilon, steps=steps, curiosity=curiosity, strategy=strategy,
        planner=planner, optimism=optimism, transfer=transfer, episodes=episodes,
        questions=questions or most,
    )  # fmt: skip
    options = checked(
        LearnOptions, worlds=worlds, settings=settings, synthesizer=synthesizer, llm=llm,
        temperature=temperature,
    )  # fmt: skip
    raise typer.Exit(run(partial(start, options, out)))


def _worldcoder(
    suites: Annotated[
        list[str] | None, typer.Argument(help="sokoban, UnlockPickup, curriculum, …; all by default.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="Seeds; variants take every second of them, ablations every fifth.", min=1)
    ] = 10,
    first_seed: FirstSeed = 0,
    levels: Annotated[
        int, typer.Option(help="Unseen Sokoban levels of each size to plan in what was learned.")
    ] = 200,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model configuration (YAML), also for the ReAct baseline; repeatable."),
    ] = None,
    synthesizer: Annotated[
        str,
        typer.Option(help="`inductive` (a stand-in for a model) or `language`: each --model."),
    ] = "inductive",
    ppo: Annotated[
        int,
        typer.Option(
            help="Actions of PPO in Sokoban, as a baseline (needs torch; an update takes 524,288); 0: none.",
            min=0,
        ),
    ] = 0,
) -> Any:
    """Learn worlds and variants of them on several seeds.

    Reports actions, programs, seconds, unseen levels, ablations and baselines.
    """
    from spca_worldcoder.bench.bench import WorldcoderBench

    return checked(
        WorldcoderBench, suites=tuple(suites or ()), seeds=seeds, first_seed=first_seed, levels=levels,
        models=tuple(model or ()), synthesizer=synthesizer, ppo=ppo,
    )  # fmt: skip


WORLDCODER = BenchCommand(
    "spca_worldcoder.bench.bench:WorldcoderBench",
    _worldcoder,
    "spca bench worldcoder · spca bench worldcoder sokoban UnlockPickup --seeds 3 · "
    "spca bench worldcoder UnlockPickup --synthesizer language --model a.yaml --model b.yaml · "
    "spca bench worldcoder sokoban --levels 200 --out campaigns/sokoban   (run it again to continue)",
)
