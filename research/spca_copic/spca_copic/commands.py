"""`spca bench copic`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from spca_benchmarks.campaigns.command import BenchCommand
from spca_copic.cli import (
    Count,
    Evolve,
    OnTestCases,
    Programs,
    Proposer,
    Published,
    SelectorName,
    Task,
    Temperature,
)
from spca_core.model import checked


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
