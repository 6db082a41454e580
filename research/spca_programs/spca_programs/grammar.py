"""Reads a grammar of planning programs from one Python file.

The fragments are ordinary Python, so they can be linted, tested and read as code.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

from spca_core.errors import InputError
from spca_programs.plan_world import Briefing, FailureKind, Fragment, Grammar, Slot

MAIN = "plan"
FRAGMENTS = "fragments.py"
_MENDS = re.compile(r"Mends: ([a-z_, ]+)\.")


def read_briefing(folder: Path, task: str, goal: str, example_task: str, **numbers: int) -> Briefing:
    """Read the briefing in a world's folder: `api.md`, `example.py` for `example_task`, `fragments.py`.

    `numbers` are those of `Briefing`: how many programs, episodes, and cases held out.
    """
    return Briefing(
        task=task,
        goal=goal,
        api=(folder / "api.md").read_text(encoding="utf-8"),
        example_task=example_task,
        example=(folder / "example.py").read_text(encoding="utf-8"),
        grammar=read_grammar(folder / FRAGMENTS),
        **numbers,
    )


def read_grammar(path: Path) -> Grammar:
    """The grammar in a file of functions.

    `plan(observation, actions, task)` is the main function. A function `slot__fragment` is one way to fill a
    slot; its docstring says what it does and may end with `Mends: kind, kind.`. The module docstring is left
    out, everything else is shared. Raises InputError when there is no `plan` or no slot, or an unknown kind
    of failure.
    """
    text = path.read_text(encoding="utf-8")
    slots: dict[str, list[Fragment]] = {}
    helpers: list[str] = []
    main = ""
    for node in ast.parse(text).body:
        source = ast.get_source_segment(text, node) or ""
        if isinstance(node, ast.Expr) or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            continue
        if isinstance(node, ast.FunctionDef) and node.name == MAIN:
            main = source
        elif isinstance(node, ast.FunctionDef) and "__" in node.name.strip("_"):
            slot, _, name = node.name.partition("__")
            doc = ast.get_docstring(node) or ""
            fragment = Fragment(
                name=name,
                source=source.replace(f"def {node.name}(", f"def {slot}(", 1),
                repairs=_repairs(doc, path, node.name),
            )
            slots.setdefault(slot, []).append(fragment)
        else:
            helpers.append(source)
    if not main or not slots:
        raise InputError(
            "no grammar", str(path), "it needs a function `plan` and functions named `slot__fragment`"
        )
    return Grammar(
        slots=tuple(Slot(name=s, fragments=tuple(f)) for s, f in slots.items()),
        main=main,
        helpers="\n\n".join(helpers),
    )


def _repairs(doc: str, path: Path, name: str) -> tuple[FailureKind, ...]:
    found = _MENDS.search(doc)
    kinds = tuple(found.group(1).replace(" ", "").split(",")) if found else ()
    known = get_args(FailureKind)
    for kind in kinds:
        if kind not in known:
            raise InputError(f"{name} repairs '{kind}'", str(path), f"kinds are {', '.join(known)}")
    return kinds
