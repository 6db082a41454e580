"""Declaration of a package's bench at the extension point `spca.benches`, and options that benches share.

Only `typer` is imported here: a bench's own modules are loaded when it runs, so that `spca bench --help` and
tab completion stay quick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer


def separated(values: list[str] | None) -> list[str] | None:
    """Return every name once, whether the option was repeated or its names have commas between them."""
    return list(dict.fromkeys(name for value in values or () for name in value.split(","))) or None


Llm = Annotated[
    str, typer.Option(help="A model configuration (YAML), or `replay:FOLDER` to answer from a record.")
]
FirstSeed = Annotated[int, typer.Option(help="The first seed.", min=0)]
Presets = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        help="nominal, shuffled, noisy, hard, disturbed; several with commas, or repeated.",
        callback=separated,
    ),
]
Usd = Annotated[float | None, typer.Option(help="Price limit of the campaign, in US dollars.", min=0)]
Out = Annotated[Path | None, typer.Option(help="The campaign's folder; an existing campaign is continued.")]
Workers = Annotated[
    int | None, typer.Option(help="Processes; the cores by default. With 1, no process is started.", min=1)
]
Scheduler = Annotated[str, typer.Option(help="Address of an outside dask scheduler, tcp://HOST:8786.")]
Compare = Annotated[Path | None, typer.Option(help="The folder of an earlier campaign to compare with.")]


@dataclass(frozen=True)
class BenchCommand:
    """A bench as `spca bench NAME`.

    `bench` is where its class is (`module:Class`, see `spca_benchmarks.campaigns.bench`). The parameters of
    `options` are the command's options (annotated for typer) and its docstring is the help text; it returns
    the bench to be run, and raises InputError for options that do not fit. The command line adds `--out`,
    `--workers`, `--scheduler` and `--compare`.
    """

    bench: str
    options: Callable[..., Any]
    examples: str

    def load(self) -> Any:
        """Return the bench's class."""
        module, _, name = self.bench.partition(":")
        return getattr(import_module(module), name)

    def run(
        self,
        out: Path | None,
        workers: int | None,
        on_trial: Callable[[int, int], None] | None,
        **settings: Any,
    ) -> tuple[Path, list[dict[str, Any]], dict[str, str]]:
        """Run a campaign, or go on with the one in `out`; return its folder, flat rows and broken trials.

        `on_trial(done, total)` is called after each trial; without it, there is a progress bar.
        """
        from spca_benchmarks.campaigns.console import new_folder, with_progress
        from spca_benchmarks.campaigns.engine import run_campaign
        from spca_benchmarks.campaigns.report import flat_rows
        from spca_core.model import checked

        bench = checked(self.load(), **settings)
        folder = out if out is not None else new_folder(bench.name)

        if on_trial is None:
            campaign = with_progress(bench, folder, workers)
        else:
            campaign = run_campaign(
                bench, folder, workers, on_entry=lambda c, _: on_trial(len(c.results), len(c.trials))
            )
        return folder, flat_rows(campaign), dict(campaign.broken)
