"""The benches that measure the stack, as commands."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands.options import takes
from spca_benchmarks.campaigns.command import BenchCommand, FirstSeed, Llm, Presets, Usd
from spca_core.model import checked


@takes("proposer", "detector", "rehearse", "transport", "robot", transport="inproc")
def _levels(
    levels: Annotated[
        list[str] | None, typer.Argument(help="Levels, patterns or groups; all by default.")
    ] = None,
    preset: Presets = None,
    tables: Annotated[int, typer.Option(help="Tables per level.")] = 20,
    first_seed: FirstSeed = 0,
    *,
    wanted: dict[str, Any],
) -> Any:
    """Run levels on many tables, in parallel. Exit status 0 if all were solved."""
    from spca.api import select_levels
    from spca_benchmarks.levels import LevelsBench

    return checked(
        LevelsBench,
        levels=tuple(info.name for info in select_levels([] if levels == ["all"] else levels or [])),
        presets=preset or ["shuffled"], tables=tables, first_seed=first_seed, **wanted,
    )  # fmt: skip


LEVELS = BenchCommand(
    "spca_benchmarks.levels:LevelsBench",
    _levels,
    "spca bench levels all --tables 20 · spca bench levels stack 'touch_0*' --preset hard · "
    "spca bench levels --out campaigns/monday   (run it again to continue)",
)


@takes("proposer", "llm", "skills", "library")
def _minigrid(
    levels: Annotated[
        str, typer.Argument(help="Categories or levels (beginnings, comma-separated); all by default.")
    ] = "",
    seeds: Annotated[int, typer.Option(help="Seeds a level.", min=1)] = 5,
    first_seed: FirstSeed = 0,
    *,
    wanted: dict[str, Any],
) -> Any:
    """Run the MiniGrid curriculum: categories × seeds; published figures stand beside a model's."""
    from spca_benchmarks.minigrid.bench import MinigridBench

    wanted["library"] = wanted["library"] or None
    return checked(MinigridBench, levels=levels, seeds=seeds, first_seed=first_seed, **wanted)


MINIGRID = BenchCommand(
    "spca_benchmarks.minigrid.bench:MinigridBench",
    _minigrid,
    "spca bench minigrid · spca bench minigrid hazard_avoidance,MiniGrid-DoorKey --seeds 20 "
    "· spca bench minigrid --proposer openai --skills empty",
)


def _rl(
    environments: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of gymnasium environments; the four with published figures by default."),
    ] = None,
    episodes: Annotated[int, typer.Option(help="Episodes at most.", min=1)] = 50_000,
    seeds: Annotated[int, typer.Option(help="Learners in each environment.", min=1)] = 3,
) -> Any:
    """Measure how many episodes PPO needs to solve 70 % and 99 % of them (needs torch)."""
    from spca_benchmarks.campaigns.published import printed
    from spca_benchmarks.minigrid.learning.bench import RlBench

    levels = [f"BabyAI-{row[0]}-v0" for row in printed("SPCA", "Table 5").rows]
    return checked(RlBench, environments=tuple(environments or levels), episodes=episodes, seeds=seeds)


RL = BenchCommand(
    "spca_benchmarks.minigrid.learning.bench:RlBench",
    _rl,
    "spca bench rl BabyAI-GoToRedBallGrey-v0",
)


def _pddl(
    domains: Annotated[
        list[str] | None, typer.Argument(help="Domains (blocksworld, gripper, …); all by default.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A model configuration (YAML), or a name in place of the configured one of planner_big; "
            "repeatable."
        ),
    ] = None,
    attempts: Annotated[int, typer.Option(help="Drafts a task.", min=1)] = 10,
    trials: Annotated[int, typer.Option(help="Number of times each model gets each task.", min=1)] = 5,
    timeout: Annotated[
        float, typer.Option(help="Seconds that the planner may search for each draft.")
    ] = 20.0,
    llm: Llm = "",
    usd: Usd = None,
) -> Any:
    """Measure how well models formalise described planning domains in PDDL.

    A plan counts if it is valid in the reference. Needs a configured model.
    """
    from spca_benchmarks.pddl.bench import PddlBench

    names = [str(Path(m).resolve()) if m.endswith((".yaml", ".yml")) else m for m in model or ()]
    return checked(
        PddlBench, models=tuple(names), tasks=tuple(domains or ()), attempts=attempts,
        trials_each=trials, timeout_s=timeout, llm=llm, usd=usd,
    )  # fmt: skip


def _rehearsal(
    levels: Annotated[
        list[str] | None, typer.Argument(help="Levels, patterns or groups; all of the tabletop by default.")
    ] = None,
    faults: Annotated[
        bool, typer.Option(help="Faulty skills, plans and domains (what is caught), or sound ones.")
    ] = True,
    preset: Presets = None,
    tables: Annotated[int, typer.Option(help="Tables per level.", min=1)] = 1,
    first_seed: FirstSeed = 0,
    limit: Annotated[int, typer.Option(help="So many faults, drawn at random; 0: all.", min=0)] = 0,
) -> Any:
    """Measure what rehearsals catch before acting, and what they reject although it works.

    Each plan is also carried out, and the referee says what was right. See docs/rehearsal.md.
    """
    from spca.api import select_levels
    from spca_benchmarks.rehearsal import RehearsalBench

    return checked(
        RehearsalBench, levels=tuple(info.name for info in select_levels(levels or [])),
        presets=tuple(preset or ("shuffled",)), tables=tables, first_seed=first_seed, faults=faults,
        limit=limit,
    )  # fmt: skip


PDDL = BenchCommand(
    "spca_benchmarks.pddl.bench:PddlBench",
    _pddl,
    "spca bench pddl gripper rovers · spca bench pddl --model qwen3:8b --model qwen3:32b · "
    "spca bench pddl --llm replay:campaigns/20260101-120000_pddl",
)
REHEARSAL = BenchCommand(
    "spca_benchmarks.rehearsal:RehearsalBench",
    _rehearsal,
    "spca bench rehearsal --limit 300 · spca bench rehearsal stack --preset hard · "
    "spca bench rehearsal --no-faults --preset nominal,noisy,hard --tables 3",
)


def _models(
    model: Annotated[
        list[str] | None, typer.Option(help="A model configuration (YAML), or `builtin`; repeatable.")
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            help="Levels, patterns or groups, taken in this order (minigrid:published: the nine categories); "
            "tabletop:published by default."
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            help="full, no-reuse, no-repair, no-replanning, no-rehearsal, always-rehearsal, no-rewind, "
            "one-validator, "
            "small-repair, whole-library, vision, vision-alone; repeatable."
        ),
    ] = None,
    tables: Annotated[
        int,
        typer.Option(
            "--tables", "--trials", help="Tables; each model starts from an empty library on each.", min=1
        ),
    ] = 5,
    first_seed: FirstSeed = 0,
    preset: Annotated[
        str, typer.Option(help="nominal, shuffled (the tabletop's default), noisy or hard.")
    ] = "",
    usd: Usd = None,
    llm: Annotated[
        str, typer.Option(help="`replay:FOLDER`: repeat an earlier campaign from its recorded answers.")
    ] = "",
) -> Any:
    """Compare language models on the same levels and tables; each learns for itself.

    See docs/compare-models.md.
    """
    from spca.api import select_levels
    from spca.kits import kit_of
    from spca_benchmarks.campaigns.campaign import bench_in
    from spca_benchmarks.models.bench import BUILTIN, ModelsBench
    from spca_core.errors import InputError, one_of

    if llm:
        if not llm.startswith("replay:") or model:
            raise InputError(f"--llm {llm!r}", hint="use replay:FOLDER, without --model")
        folder = Path(llm.removeprefix("replay:")).resolve()
        return bench_in(folder).model_copy(update={"llm": f"replay:{folder}"})
    curriculum = [part for text in levels or ["tabletop:published"] for part in text.split(",") if part]
    chosen = tuple(dict.fromkeys(info.name for part in curriculum for info in select_levels([part])))
    if not model:
        raise InputError("no model", where="--model", hint="name one or more: --model builtin --model a.yaml")
    for name in model:
        if name != BUILTIN and not Path(name).is_file():
            meant = one_of(name, [BUILTIN, *glob("*.y*ml")])
            raise InputError(f"no model configuration '{name}'", "--model", meant)
    presets = kit_of(chosen[0]).presets
    return checked(
        ModelsBench, models=tuple(m if m == BUILTIN else str(Path(m).resolve()) for m in model),
        levels=chosen, preset=preset or ("shuffled" if "shuffled" in presets else presets[0]),
        variants=tuple(variant or ("full",)), tables=tables, first_seed=first_seed, usd=usd,
    )  # fmt: skip


MODELS = BenchCommand(
    "spca_benchmarks.models.bench:ModelsBench",
    _models,
    "spca bench models --model a.yaml --model b.yaml --model builtin --tables 5 · "
    "spca bench models --levels minigrid:published --model a.yaml --model b.yaml · "
    "spca bench models --model a.yaml --variant full --variant no-reuse --levels stack --usd 5 · "
    "spca bench models --llm replay:campaigns/20260101-120000_models",
)
