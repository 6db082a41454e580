"""Libraries of skills as one text: what comes with an environment, then a module for each other skill.

A module is source text with a namespace of its own. From outside only its skill is seen, so that no skill
changes another; skills of all modules may call each other by name. The first module, before any mark, has no
name and offers all its skills.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

MARK = "# --- skill "
"""Begin of the line that begins a module; its skill's name follows."""
_MARKED = re.compile(rf"(?:\A|\n\n)^{MARK}(\w+)$\n?", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """A part of a library: the name of its skill, its text, and the lines of the library before it."""

    skill: str
    text: str
    before: int


def modules(library: str) -> tuple[Module, ...]:
    """Split a library; the first module, whose name is empty, is what comes with the environment.

    >>> [(m.skill, m.text, m.before) for m in modules(joined({"": "A = 1", "nod": "B = 2"}))]
    [('', 'A = 1', 0), ('nod', 'B = 2', 3)]
    """
    marks = list(_MARKED.finditer(library))
    begins = [("", 0), *((mark[1], mark.end()) for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(library)]
    return tuple(
        Module(skill, library[begin:end], library.count("\n", 0, begin))
        for (skill, begin), end in zip(begins, ends, strict=True)
    )


def joined(texts: Mapping[str, str]) -> str:
    """The library of these modules, by the names of their skills."""
    library = texts.get("", "")
    for skill, text in texts.items():
        if skill:
            library += f"{library and chr(10) * 2}{MARK}{skill}\n{text}"
    return library
