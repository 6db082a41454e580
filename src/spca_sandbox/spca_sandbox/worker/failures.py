"""The exceptions a skill can catch, and how an uncaught one is reported to the host."""

from __future__ import annotations

from types import CodeType
from typing import Any

SOURCE_NAME = "<skills>"
_LONGEST = 600


class CtxError(Exception):
    """A call through `ctx` failed; `kind` says why in one word."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(message or kind)
        self.kind = kind


class MotionError(CtxError):
    """A motion was refused or stopped."""


def describe(error: BaseException) -> dict[str, Any]:
    """`kind`, `message` and `line` (in the skill's source) of an exception that nobody caught."""
    return {"kind": _kind(error), "message": _message(error), "line": _line(error)}


def _kind(error: BaseException) -> str:
    if isinstance(error, CtxError):
        return str(error.kind)[:40]
    return "refused" if isinstance(error, PermissionError) else "error"


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = "(an exception without a readable message)"
    if isinstance(error, CtxError):
        return text[:_LONGEST]
    return f"{type(error).__name__}: {text}"[:_LONGEST]


def _line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        code: CodeType = trace.tb_frame.f_code
        if code.co_filename == SOURCE_NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
