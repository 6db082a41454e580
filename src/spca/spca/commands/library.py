"""`spca library`: what was learned and is trusted, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spca.commands import LEVELS

library_app = typer.Typer(
    help="Show what was learned.",
    no_args_is_help=True,
    epilog="Examples:  spca library show · spca library show place_on",
)
app = typer.Typer()
app.add_typer(library_app, name="library", rich_help_panel=LEVELS)


@library_app.command()
def show(
    skill: Annotated[str, typer.Argument(help="One skill; all of them by default.")] = "",
    environment: Annotated[str, typer.Option(help="The environment whose skills are meant.")] = "tabletop",
    library: Annotated[
        str, typer.Option(help="Folder of what was learned; `library/` in the project by default.")
    ] = "",
    from_nothing: Annotated[
        bool, typer.Option("--from-nothing", help="What was learned by runs that began without any skill.")
    ] = False,
) -> None:
    """List the skills with the levels that prove them, or say of one what happened to it, and its file."""
    from spca.console import notices, results, show_table
    from spca.kits import kit_named
    from spca_coder.trusted import TrustedLibrary
    from spca_core.errors import InputError, one_of
    from spca_core.paths import LIBRARY
    from spca_core.skill_package import library_source

    builtin = library_source(environment, kit_named(environment).builtin_skills)
    base = Path(library) if library else LIBRARY
    folders = {False: base / "skills" / environment, True: base / "from_nothing" / "skills" / environment}
    trusted = TrustedLibrary(folders[from_nothing], "" if from_nothing else builtin)
    skills = {status.name: status for status in trusted.skills()}
    if skill and skill not in skills:
        more = "" if from_nothing else "; --from-nothing: what runs with --skills empty have learned"
        raise InputError(f"unknown skill '{skill}'", hint=f"{one_of(skill, skills)}{more}")
    if skill:
        status, console = skills[skill], results()
        console.print(f"{skill}: {status.status}, proved by: {', '.join(status.levels) or 'no level'}")
        for event in trusted.history(skill):
            words = " ".join(filter(None, (event.time, event.kind, event.level, event.reason)))
            console.print(f"  {words}", markup=False)
        if status.status == "learned":
            console.print(f"  {folders[from_nothing] / skill}.py", markup=False, soft_wrap=True)
        return
    rows = [(s.name, s.status, str(len(s.levels)), s.doc.partition("\n")[0]) for s in skills.values()]
    show_table(("skill", "status", "levels", ""), rows)
    if not from_nothing and (others := TrustedLibrary(folders[True]).skills()):
        notices().print(f"{len(others)} more, learned by runs with --skills empty: add --from-nothing")


_ANY: dict[str, Any] = {"hidden": True, "context_settings": {"ignore_unknown_options": True}}


@library_app.command("explain", **_ANY)
@library_app.command("export", **_ANY)
@library_app.command("demote", **_ANY)
@library_app.command("restore", **_ANY)
def gone(given: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Say what stands in the place of a command that has gone."""
    from spca_core.errors import InputError

    hint = "`spca library show SKILL` names its file: who distrusts it removes that, and the .json beside it"
    raise InputError("this command has gone", "spca library", hint)
