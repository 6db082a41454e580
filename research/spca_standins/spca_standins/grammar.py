"""Reads a grammar of planning programs from one Python file.

The fragments are ordinary Python, so they can be linted, tested and read as code.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.validation import expecting
from spca_programs.plan_world import Briefing, FailureKind

MAIN = "plan"
FRAGMENTS = "fragments.py"
_MENDS = re.compile(r"Mends: ([a-z_, ]+)\.")


class Fragment(Record):
    """One way to fill a slot: Python source that defines a function with the slot's name.

    `repairs` are the failures it helps with.
    """

    source: str
    repairs: tuple[FailureKind, ...] = ()


class Grammar(Record):
    """The parts from which programs for one task type are composed: by slot, the fragments by name.

    A slot is a decision that every program has to make; no single choice of fragments is guaranteed to solve
    the task. `main` defines `plan(observation, actions, task)` and calls the slots' functions; all share
    `helpers`.
    """

    slots: dict[str, dict[str, Fragment]]
    main: str
    helpers: str = ""


def grammar_of(briefing: Briefing) -> Grammar | None:
    """The parts that a world brings in its briefing, or that this package has for a world of that name."""
    if isinstance(briefing.grammar, Grammar):
        return briefing.grammar
    path = Path(__file__).parent / briefing.world / FRAGMENTS
    return read_grammar(path) if path.is_file() else None


@cache
def read_grammar(path: Path) -> Grammar:
    """The grammar in a file of functions.

    `plan(observation, actions, task)` is the main function. A function `slot__fragment` is one way to fill a
    slot; its docstring says what it does and may end with `Mends: kind, kind.`. The module docstring is left
    out, everything else is shared. Raises InputError when there is no `plan` or no slot, or an unknown kind
    of failure.
    """
    text = path.read_text(encoding="utf-8")
    slots: dict[str, dict[str, Fragment]] = {}
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
            mends = _MENDS.search(ast.get_docstring(node) or "")
            with expecting(f"the fragment {node.name}", path):
                slots.setdefault(slot, {})[name] = Fragment(
                    source=source.replace(f"def {node.name}(", f"def {slot}(", 1),
                    repairs=tuple(mends.group(1).split(", ")) if mends else (),
                )
        else:
            helpers.append(source)
    if not main or not slots:
        raise InputError(
            "no grammar", str(path), "it needs a function `plan` and functions named `slot__fragment`"
        )
    return Grammar(slots=slots, main=main, helpers="\n\n".join(helpers))
