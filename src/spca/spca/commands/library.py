"""`spca library`: what was learned and is trusted, why, and how to withdraw trust or give it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spca.commands import LEVELS

if TYPE_CHECKING:
    from spca_coder.trusted import TrustedLibrary

_Environment = Annotated[str, typer.Option(help="The environment whose skills are meant.")]
_Folder = Annotated[
    str, typer.Option("--library", help="Folder of what was learned; `library/` in the project by default.")
]
_Empty = Annotated[
    bool, typer.Option("--from-nothing", help="What was learned by runs that began without any skill.")
]
_Skill = Annotated[str, typer.Argument(help="The skill's name.")]


library_app = typer.Typer(
    help="Show, explain, export, demote and restore what was learned.",
    no_args_is_help=True,
    epilog="Examples:  spca library show · spca library explain place_on · "
    "spca library demote place_on --reason 'it drops the cube' · spca library restore place_on",
)
app = typer.Typer()
app.add_typer(library_app, name="library", rich_help_panel=LEVELS)


@library_app.command()
def show(environment: _Environment = "tabletop", library: _Folder = "", from_nothing: _Empty = False) -> None:
    """List the skills: where they come from, and how many levels prove them."""
    from spca.console import notices, show_table

    skills = _library(environment, library, from_nothing).skills()
    rows = [
        (s.name, s.status, str(len(s.levels)), s.reason or (s.doc.splitlines() or [""])[0]) for s in skills
    ]
    show_table(("skill", "status", "levels", ""), rows)
    if not from_nothing and (others := _library(environment, library, True).skills()):
        notices().print(f"{len(others)} more, learned by runs with --skills empty: add --from-nothing")


@library_app.command()
def explain(
    skill: _Skill, environment: _Environment = "tabletop", library: _Folder = "", from_nothing: _Empty = False
) -> None:
    """Say why a skill is trusted or not: the levels that prove it, and everything that happened to it."""
    from spca.console import results

    trusted, console = _library(environment, library, from_nothing, skill), results()
    for status in (s for s in trusted.skills() if s.name == skill):
        console.print(f"{status.name}: {status.status}", markup=False)
        if status.reason:
            console.print(f"  because {status.reason}", markup=False)
        console.print(f"  proved by: {', '.join(status.levels) or 'no level'}", markup=False)
    for event in trusted.history(skill):
        words = " ".join(filter(None, (event.time, event.kind, event.level, event.reason)))
        console.print(f"  {words}", markup=False)


@library_app.command()
def export(
    skill: Annotated[str, typer.Argument(help="One skill; the whole library by default.")] = "",
    environment: _Environment = "tabletop",
    library: _Folder = "",
    from_nothing: _Empty = False,
) -> None:
    """Print the source of a skill with all that it needs, or of the whole library."""
    trusted = _library(environment, library, from_nothing, skill)
    typer.echo(trusted.excerpt(skill) if skill else trusted.source(), nl=False)


@library_app.command()
def demote(
    skill: _Skill,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the skill.")],
    environment: _Environment = "tabletop",
    library: _Folder = "",
    from_nothing: _Empty = False,
) -> None:
    """Withdraw trust from a skill and from the learned skills that call it.

    They are kept, and can be restored.
    """
    gone = _library(environment, library, from_nothing, skill).demote(skill, reason)
    typer.echo(f"demoted: {', '.join(gone)}")


@library_app.command()
def restore(
    skill: _Skill, environment: _Environment = "tabletop", library: _Folder = "", from_nothing: _Empty = False
) -> None:
    """Trust a demoted skill again, in place of the version that is trusted now."""
    _library(environment, library, from_nothing, skill).restore(skill)
    typer.echo(f"restored: {skill}")


def _library(environment: str, folder: str, from_nothing: bool, skill: str = "") -> TrustedLibrary:
    from spca.kits import kit_named
    from spca_coder.trusted import TrustedLibrary
    from spca_core.errors import InputError, one_of
    from spca_core.paths import LIBRARY
    from spca_core.skill_package import library_source

    kit = kit_named(environment)
    base = (Path(folder) if folder else LIBRARY) / ("from_nothing" if from_nothing else "")
    builtin = "" if from_nothing else library_source(environment, kit.builtin_skills)
    trusted = TrustedLibrary(base / "skills" / environment, builtin)
    if skill and skill not in (names := [s.name for s in trusted.skills()]):
        more = "" if from_nothing else "; --from-nothing: what runs with --skills empty have learned"
        raise InputError(f"unknown skill '{skill}'", hint=f"{one_of(skill, names)}{more}")
    return trusted
