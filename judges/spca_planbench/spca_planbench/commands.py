"""`spca bench planbench` and `spca bench planetarium`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca_benchmarks.campaigns.command import BenchCommand, Llm, Usd
from spca_core.model import checked

Count = Annotated[int, typer.Option(help="Of each domain, or published file, evenly spread.", min=1)]
Rounds = Annotated[int, typer.Option(help="Further answers after a refusal, at most.", min=0)]


def _llm(llm: str) -> str:
    """The same wherever the command is given again."""
    return llm if not llm or llm.startswith("replay:") else str(Path(llm).resolve())


def _planetarium(
    data: Annotated[
        Path,
        typer.Option(
            help="The database that Planetarium's dataset_generator.py makes.", exists=True, dir_okay=False
        ),
    ],
    llm: Llm = "",
    count: Count = 15,
    rounds: Rounds = 3,
    usd: Usd = None,
) -> Any:
    """Let a chat model write PDDL problems from Planetarium's texts: parseable, solvable, correct."""
    from spca_planbench.planetarium import PlanetariumBench

    return checked(PlanetariumBench, data=data.resolve(), llm=_llm(llm), count=count, rounds=rounds, usd=usd)


PLANETARIUM = BenchCommand(
    "spca_planbench.planetarium:PlanetariumBench",
    _planetarium,
    "spca bench planetarium --data dataset-v2.db --llm llm.yaml --count 15 --workers 1",
)


def _planbench(
    repository: Annotated[
        Path, typer.Option(help="A checkout of karthikv792/LLMs-Planning.", exists=True, file_okay=False)
    ],
    llm: Annotated[
        str,
        typer.Option(help="Who is asked, as for `spca run`; the published answers are judged without it."),
    ] = "",
    domain: Annotated[
        list[str] | None,
        typer.Option(help="Of the questions; blocksworld and mystery_blocksworld by default."),
    ] = None,
    count: Count = 15,
    rounds: Rounds = 3,
    usd: Usd = None,
) -> Any:
    """Judge PlanBench's published plans again, or ask a chat model for plans."""
    from spca_planbench.planbench import DOMAINS, PlanBench

    return checked(
        PlanBench, repository=repository.resolve(), llm=_llm(llm), domains=tuple(domain or DOMAINS),
        count=count, rounds=rounds, usd=usd,
    )  # fmt: skip


PLANBENCH = BenchCommand(
    "spca_planbench.planbench:PlanBench",
    _planbench,
    "spca bench planbench --repository LLMs-Planning --count 500 · "
    "spca bench planbench --repository LLMs-Planning --llm llm.yaml --count 15 --workers 1",
)
