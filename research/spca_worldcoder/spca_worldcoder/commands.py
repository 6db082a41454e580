"""`spca bench worldcoder`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spca_benchmarks.campaigns.command import BenchCommand, FirstSeed
from spca_core.model import checked


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
