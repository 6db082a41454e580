"""`spca bench minigrid`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca_bench.command import BenchCommand, FirstSeed, Llm
from spca_core.checked import checked


def _minigrid(
    levels: Annotated[
        str, typer.Argument(help="Categories or levels (beginnings, comma-separated); all by default.")
    ] = "",
    seeds: Annotated[int, typer.Option(help="Seeds a level.", min=1)] = 5,
    first_seed: FirstSeed = 0,
    proposer: Annotated[str, typer.Option(help="`builtin` (no model needed) or `openai`.")] = "builtin",
    llm: Llm = "",
    skills: Annotated[
        str, typer.Option(help="Skills at the start: builtin, trusted, empty, or auto.")
    ] = "auto",
    library: Annotated[
        Path | None, typer.Option(help="Folder of what is learned; library/ by default.")
    ] = None,
) -> Any:
    """Run the MiniGrid curriculum: categories × seeds, next to the published figures."""
    from spca_minigrid.bench import MinigridBench

    return checked(
        MinigridBench, levels=levels, seeds=seeds, first_seed=first_seed, proposer=proposer, llm=llm,
        skills=skills, library=library,
    )  # fmt: skip


MINIGRID = BenchCommand(
    "spca_minigrid.bench:MinigridBench",
    _minigrid,
    "spca bench minigrid · spca bench minigrid hazard_avoidance,MiniGrid-DoorKey --seeds 20 "
    "· spca bench minigrid --proposer openai --skills empty",
)


def _rl(
    environments: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of gymnasium environments; the four with published figures by default."),
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(help="tabular (Q-learning), ppo (needs stable-baselines3); repeatable."),
    ] = None,
    episodes: Annotated[int, typer.Option(help="Episodes at most.", min=100)] = 5000,
    seeds: Annotated[int, typer.Option(help="Learners of each kind in each environment.", min=1)] = 3,
    mazes: Annotated[
        int, typer.Option(help="Different mazes, used in turn; 0 is a new one in every episode.", min=0)
    ] = 0,
) -> Any:
    """Measure how many episodes reinforcement learning needs to solve 70 % and 99 % of them."""
    from spca_minigrid.learning.bench import RlBench
    from spca_minigrid.published import LEARNING

    return checked(
        RlBench, environments=tuple(environments or (f"{name}-v0" for name in LEARNING)),
        algorithms=tuple(algorithm or ("tabular",)), episodes=episodes, seeds=seeds, mazes=mazes,
    )  # fmt: skip


RL = BenchCommand(
    "spca_minigrid.learning.bench:RlBench",
    _rl,
    "spca bench rl MiniGrid-Empty-5x5-v0 MiniGrid-DoorKey-5x5-v0 --mazes 1 · "
    "spca bench rl BabyAI-GoToRedBallGrey-v0 --algorithm tabular --algorithm ppo --episodes 20000",
)
