"""`spca new`: a package of one's own to begin with, made from a tested example."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from spca.commands import MACHINE

EXAMPLES = {
    "environment": ("corridor", "run {name}:5"),
    "skill": ("push", "run {folder}/levels/{name}_01.yaml"),
    "detector": ("blobs", "run touch_02 --detector {name}"),
    "proposer": ("scribe", "run touch_02 --proposer {name}"),
    "engine": ("ripple", "run touch_02 --engine {name}"),
    "kind": ("mug", "run {folder}/levels/{name}_01.yaml"),
    "relation": ("diagonal", "run {folder}/levels/{name}_01.yaml"),
    "bench": ("looks", "bench {name}"),
}
"""Examples that new packages are copies of, by kind, each with a command that uses the installed copy."""
_KINDS = ", ".join(EXAMPLES).replace("engine", "engine (a planner)")

app = typer.Typer()


@app.command(
    rich_help_panel=MACHINE,
    epilog="Examples:  spca new environment maze · spca new skill slide · spca new detector edges",
)
def new(
    kind: Annotated[str, typer.Argument(help=f"One of {_KINDS}.")],
    name: Annotated[
        str, typer.Argument(help="Its name: lower-case letters, digits and _ (a kind: letters only).")
    ],
    out: Annotated[Path, typer.Option(help="Where the package's own folder is made.")] = Path(),
) -> None:
    """Write a package that extends spca: a small one that works, with its tests, to be changed."""
    from spca.console import notices
    from spca.kits import kits
    from spca_core.errors import InputError, one_of
    from spca_core.extensions import installed
    from spca_core.kinds import KINDS
    from spca_core.paths import CHECKOUT, as_typed, data
    from spca_core.relation import relations

    if kind not in EXAMPLES:
        raise InputError(f"unknown kind '{kind}'", where="KIND", hint=one_of(kind, EXAMPLES))
    example, try_it = EXAMPLES[kind]
    group = "spca.benches" if kind == "bench" else f"spca.{kind}s"
    letters, hint = "[a-z][a-z0-9_]*[a-z0-9]", "lower-case letters, digits and _: my_maze"
    if kind == "kind":  # it is said by its name
        letters, hint = "[a-z]+", "one word of lower-case letters: beaker"
    if not re.fullmatch(letters, name) or keyword.iskeyword(name):
        raise InputError(f"'{name}' is no name", where="NAME", hint=hint)
    folder = out / name
    if folder.exists():
        raise InputError(f"{folder} exists already", hint="take another name, or --out FOLDER")
    own = {"kind": [*KINDS], "relation": [relation.name for relation in relations()]}
    own["skill"] = re.findall(r"^def (\w+)", "\n".join(k.builtin_skills.read_text() for k in kits()), re.M)
    if name in own.get(kind, ()) or name in installed(group) or find_spec(name) is not None:
        raise InputError(f"'{name}' is the name of something installed", where="NAME", hint="take another")
    copy(data("examples", "spca") / example, folder, example, name)
    tests = as_typed("test") if CHECKOUT else f"{sys.executable} -m pytest"
    told = (
        f"{folder} is a working copy of the example '{example}'. Install it, test it, use it:\n"
        f"  {as_typed(f'pip install --no-deps -e {folder}')}\n  {tests} {folder}\n"
        f"  {as_typed(try_it.format(name=name, folder=folder))}"
    )
    notices().print(told, markup=False, highlight=False, soft_wrap=True)  # to be copied
    typer.echo(folder)


def copy(example: Path, folder: Path, old: str, new: str) -> None:
    """Copy an example's files, with its name replaced in their paths and texts."""
    from spca_core.errors import InputError

    files = [path for path in sorted(example.rglob("*")) if path.is_file() and path.suffix != ".pyc"]
    if not files:
        raise InputError(f"the examples are not installed ({example})", hint="install spca again")
    for path in files:
        target = folder / renamed(str(path.relative_to(example)), old, new)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".yaml":  # sentences: a name of two words is written as two
            text = re.sub(rf"\b({old})(?= )", new.replace("_", " "), text, flags=re.IGNORECASE)
        target.write_text(renamed(text, old, new), encoding="utf-8")


def renamed(text: str, old: str, new: str) -> str:
    """Return a text with one name for another, as it stands in modules, classes and constants.

    >>> renamed("corridor.kit:CorridorKit, TestCorridor", "corridor", "my_maze")
    'my_maze.kit:MyMazeKit, TestMyMaze'
    """
    forms = {old: new, old.upper(): new.upper(), old.capitalize(): new.title().replace("_", "")}
    words = rf"(?<![A-Z])(?<![a-z](?=[a-z]))(?:{'|'.join(forms)})(?![a-z])"
    return re.sub(words, lambda m: forms[m.group()], text)
