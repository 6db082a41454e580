"""The fenced blocks of a model's answer (Markdown)."""

from __future__ import annotations

import re

_FENCE = re.compile(
    r"^[ \t]*(```+|~~~+)[ \t]*([\w+-]*)[^\n]*\n(.*?)[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL
)
PYTHON = ("python", "py", "python3")


def fenced(text: str, languages: tuple[str, ...] = ()) -> list[str]:
    r"""Return the blocks in one of these languages or in none; all blocks when no languages are given.

    >>> fenced("Here it is:\n```python\ndef solve(): return []\n```\nDone.", PYTHON)
    ['def solve(): return []\n']
    """
    found = _FENCE.finditer(text.replace("\r\n", "\n"))
    return [m[3] for m in found if not languages or m[2].lower() in ("", *languages)]
