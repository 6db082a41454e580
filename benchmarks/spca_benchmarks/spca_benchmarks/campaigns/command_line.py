"""`spca bench`: campaigns that can be interrupted, resumed, compared and shown.

The benches are found at the extension point `spca.benches`; nothing of one is imported before it runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import click
import typer
from typer.core import TyperGroup
from typer.main import get_command

from spca.commands import BENCHES, Command
from spca_benchmarks.campaigns.command import BenchCommand, Compare, Out, Scheduler, Workers
from spca_core.errors import InputError
from spca_core.extensions import Plugin, find, installed


class InstalledBenches(TyperGroup):
    """A command for each installed bench, followed by `resume` and `show`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the benches, and the commands for all of them."""
        return [*installed("spca.benches"), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name. Raises InputError where there is none."""
        if cmd_name in self.commands:
            return super().get_command(ctx, cmd_name)
        plugin = find("spca.benches", cmd_name)
        try:
            return _command(cmd_name, plugin.load())
        except Exception as error:  # of somebody else's package: the others are there all the same
            return _broken(cmd_name, plugin, error)


benches = typer.Typer(
    cls=InstalledBenches,
    help="Benchmarks. Every campaign is a folder with results (JSONL, CSV), settings and one page.",
    no_args_is_help=True,
)
BENCH = Command(lambda app: app.add_typer(benches, name="bench", rich_help_panel=BENCHES))


def _command(name: str, bench: BenchCommand) -> Any:
    """Return the click command of a bench, with its own options and those of every campaign."""
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    alone.command(name, epilog=f"Examples:  {bench.examples}")(_with_campaign_options(bench.options))
    return get_command(alone)


def _broken(name: str, plugin: Plugin, error: Exception) -> click.Command:
    """Return a stand-in for a bench that cannot be loaded; it says why when it is called."""
    what = (
        str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error} ({plugin.package})"
    )

    def refuse(**_: Any) -> None:
        raise InputError(f"the bench '{name}' cannot be loaded", hint=what)

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=refuse, help=f"Broken: {what}", context_settings=settings)


def _with_campaign_options(build: Callable[..., Any]) -> Callable[..., None]:
    def run(
        *, out: Path | None, workers: int | None, scheduler: str, compare: Path | None, **own: Any
    ) -> None:
        from spca_benchmarks.campaigns.console import run_bench

        raise typer.Exit(run_bench(build(**own), out, workers, scheduler, compare))

    shared = {"out": (Out, None), "workers": (Workers, None), "scheduler": (Scheduler, ""),
              "compare": (Compare, None)}  # fmt: skip
    hints = get_type_hints(build, include_extras=True)
    parameters = [
        *(p.replace(annotation=hints[p.name]) for p in inspect.signature(build).parameters.values()),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in shared.items()
        ),
    ]
    run.__doc__ = build.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


@benches.command("resume", epilog="Example:  spca bench resume campaigns/20260101-120000_levels")
def resume(
    folder: Annotated[Path, typer.Argument(help="The folder of a campaign.")],
    workers: Workers = None,
    scheduler: Scheduler = "",
    compare: Compare = None,
) -> None:
    """Continue a campaign: run the trials that have no result yet and those that broke."""
    from spca_benchmarks.campaigns.campaign import bench_in
    from spca_benchmarks.campaigns.console import run_bench

    raise typer.Exit(run_bench(bench_in(folder), folder, workers, scheduler, compare))


@benches.command("export", epilog="Example:  spca bench export campaigns/20260101-120000_models shared")
def export(
    folder: Annotated[Path, typer.Argument(help="The folder of a campaign.")],
    out: Annotated[Path, typer.Argument(help="The new folder.")],
) -> None:
    """Copy a campaign to give it away: results, settings, recorded answers (without keys) and page."""
    from spca_benchmarks.campaigns.campaign import bench_in, read_campaign
    from spca_benchmarks.campaigns.report import share

    share(read_campaign(bench_in(folder), folder), out)
    typer.echo(out)


@benches.command("show", epilog="Example:  spca bench show campaigns/20260101-120000_levels")
def show(
    folder: Annotated[Path, typer.Argument(help="The folder of a campaign.")], compare: Compare = None
) -> None:
    """Show a campaign's table and write its page and tables again, without running any trial."""
    from spca_benchmarks.campaigns.campaign import bench_in, read_campaign
    from spca_benchmarks.campaigns.console import show_campaign

    show_campaign(read_campaign(bench_in(folder), folder), compare)
