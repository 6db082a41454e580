"""`spca bench levels` and `spca bench models`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import ROBOT
from spca_bench.command import BenchCommand, FirstSeed, Presets, Usd
from spca_core.checked import checked


def _levels(
    levels: Annotated[
        list[str] | None, typer.Argument(help="Levels, patterns or groups; all by default.")
    ] = None,
    preset: Presets = None,
    tables: Annotated[int, typer.Option(help="Tables per level.")] = 20,
    first_seed: FirstSeed = 0,
    proposer: Annotated[str, typer.Option(help="As in `spca run`.")] = "builtin",
    transport: Annotated[
        str,
        typer.Option(
            help="`inproc`: lockstep; `ros`: trial after trial on the graph that `spca up` started."
        ),
    ] = "inproc",
    robot: Annotated[str, typer.Option(help=ROBOT)] = "",
) -> Any:
    """Run levels on many tables, in parallel. Exit status 0 if all were solved."""
    from spca.api import select_levels
    from spca.benches.levels import LevelsBench

    return checked(
        LevelsBench,
        levels=tuple(info.name for info in select_levels([] if levels == ["all"] else levels or [])),
        presets=preset or ["shuffled"], tables=tables, first_seed=first_seed, proposer=proposer,
        transport=transport, robot=robot,
    )  # fmt: skip


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
    from spca.benches import bench_in
    from spca.benches.models import BUILTIN, ModelsBench
    from spca.kits import kit_of
    from spca_core.errors import InputError

    if llm:
        if not llm.startswith("replay:") or model:
            raise InputError(f"--llm {llm!r}", hint="use replay:FOLDER, without --model")
        folder = Path(llm.removeprefix("replay:")).resolve()
        return bench_in(folder).model_copy(update={"llm": f"replay:{folder}"})
    curriculum = [part for text in levels or ["tabletop:published"] for part in text.split(",") if part]
    chosen = tuple(dict.fromkeys(info.name for part in curriculum for info in select_levels([part])))
    presets = kit_of(chosen[0]).presets
    return checked(
        ModelsBench, models=tuple(m if m == BUILTIN else str(Path(m).resolve()) for m in model or ()),
        levels=chosen, preset=preset or ("shuffled" if "shuffled" in presets else presets[0]),
        variants=tuple(variant or ("full",)), tables=tables, first_seed=first_seed, usd=usd,
    )  # fmt: skip


LEVELS = BenchCommand(
    "spca.benches.levels:LevelsBench",
    _levels,
    "spca bench levels all --tables 20 · spca bench levels stack 'touch_0*' --preset hard · "
    "spca bench levels --out campaigns/monday   (run it again to continue)",
)
MODELS = BenchCommand(
    "spca.benches.models:ModelsBench",
    _models,
    "spca bench models --model a.yaml --model b.yaml --model builtin --tables 5 · "
    "spca bench models --levels minigrid:published --model a.yaml --model b.yaml · "
    "spca bench models --model a.yaml --variant full --variant no-reuse --levels stack --usd 5 · "
    "spca bench models --llm replay:campaigns/20260101-120000_models",
)
