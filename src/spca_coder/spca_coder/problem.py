"""A fault in a piece of code, described so that a proposer can act on it."""

from __future__ import annotations

from collections.abc import Sequence

from spca_coder.source import lines_of
from spca_core.model import Record

_SHOWN = 8


class CodeFault(Record):
    """One sentence, and the line of the draft it is about (None: the draft as a whole)."""

    message: str
    line: int | None = None


def report(problems: Sequence[CodeFault], source: str) -> str:
    """The problems in the order of their lines, each with the line it is about; at most eight."""
    lines = lines_of(source)
    ordered = sorted(set(problems), key=lambda p: (p.line or 0, p.message))
    shown = [_sentence(p, lines) for p in ordered[:_SHOWN]]
    if len(ordered) > _SHOWN:
        shown.append(f"and {len(ordered) - _SHOWN} more")
    return "\n".join(shown)


def _sentence(problem: CodeFault, lines: list[str]) -> str:
    if problem.line is None or not 1 <= problem.line <= len(lines):
        return problem.message
    return f"line {problem.line}, `{lines[problem.line - 1].strip()[:120]}`: {problem.message}"
