"""`spca api`, and the pages of `docs/reference` that it prints."""

from __future__ import annotations

from typing import Annotated

import typer

from spca.commands import MACHINE
from spca_core.ports.kit import Kit

app = typer.Typer()


@app.command(rich_help_panel=MACHINE, epilog="Example:  spca api tabletop")
def api(environment: Annotated[str, typer.Argument(help="Its name; see `spca doctor`.")]) -> None:
    """Print what skills of an environment may call, and its planning domain."""
    from spca.kits import kit_named
    from spca_core.errors import InputError

    if environment in ("world", "level", "plugins"):
        raise InputError(f"'{environment}' is no environment", hint=f"see docs/reference/{environment}.md")
    typer.echo(page(kit_named(environment)), nl=False)


def page(kit: Kit) -> str:
    """Return in Markdown what a model is told that a skill may use, and the planning domain."""
    from spca_coder.language import described

    parts = [f"# {kit.name.capitalize()}", f"{kit.about[0].upper()}{kit.about[1:]}.", "## Skills"]
    parts.append(described(kit.api).strip().replace(":\n- ", ":\n\n- "))  # a list in Markdown
    if domain := kit.domain():
        parts += ["## The planning domain", "Each action is carried out by the skill of its name."]
        parts.append(f"```lisp\n{domain.strip()}\n```")
    return "\n\n".join(parts) + "\n"
