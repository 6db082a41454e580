"""The errors that reach a user, and the exit status each one means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from spca_core.paths import as_typed

EXIT_SUCCESS = 0
EXIT_NOT_SOLVED = 1
EXIT_BAD_INPUT = 2
EXIT_BROKEN = 3
EXIT_INTERRUPTED = 130


_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LEADING = re.compile(r"(?<!\d)0+(?=\d)")
"""Leading zeros of a number in a name."""
_COMMAND = re.compile(r"`spca ([^`]*)`")
"""A command in a hint, which is told as the user can type it."""


def harmless(text: str) -> str:
    r"""Return `text` with `?` for whatever would steer a terminal: escape sequences, changes of direction.

    >>> harmless("a level\x1b[2J")
    'a level?[2J'
    """
    return _STEERING.sub("?", text)


def one_line(text: str) -> str:
    r"""Return `text` as one harmless line: its lines joined by spaces.

    >>> one_line("could not find\n  expected ':'")
    "could not find expected ':'"
    """
    return harmless(" ".join(line.strip() for line in text.splitlines() if line.strip()))


def did_you_mean(name: str, known: Iterable[str], most: int = 1, least: float = 0.6) -> str:
    """Ask whether one of the known names was meant that are most like `name`; empty if none is.

    `least` is the likeness from which on one is, from 0 to 1 (`difflib.SequenceMatcher.ratio`). Names that
    differ by the leading zeros of a number alone are meant before all others.

    >>> did_you_mean("stack_1", ["stack_11", "stack_01", "touch_01"])
    "did you mean 'stack_01'?"
    """
    names = list(known)
    alike = [one for one in names if _LEADING.sub("", one) == _LEADING.sub("", name)]
    near = " or ".join(f"'{one}'" for one in alike or get_close_matches(name, names, most, least))
    return f"did you mean {near}?" if near else ""


def one_of(name: str, known: Iterable[str]) -> str:
    """Say which of the known names may be meant by another one; else, which there are."""
    return did_you_mean(name, names := list(known)) or f"one of {', '.join(names) or 'none'}"


class SpcaError(Exception):
    """An internal failure that the user did not cause (exit status 3)."""

    exit_status = EXIT_BROKEN


class InputError(SpcaError):
    """Bad usage or input (exit status 2); one line says what is wrong, where, and what would be right.

    >>> str(InputError("unknown level 'stak_01'", where="levels/", hint="did you mean 'stack_01'?"))
    "unknown level 'stak_01' (levels/): did you mean 'stack_01'?"
    """

    exit_status = EXIT_BAD_INPUT

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        hint = _COMMAND.sub(lambda command: f"`{as_typed(command[1])}`", hint)
        self.what, self.where, self.hint = what, where, hint
        what = what if len(what) <= 1000 else f"{what[:500]} … {what[-500:]}"  # it quotes a file
        super().__init__(one_line(what + (f" ({where})" if where else "") + (f": {hint}" if hint else "")))

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.what, self.where, self.hint)


class Unsupported(InputError):
    """What was asked for is not possible in this world, such as laying a real table anew."""


class OutOfReach(InputError):
    """The chosen arm does not reach what a level is about."""


class Cancelled(SpcaError):
    """The user or a supervisor asked for a stop (exit status 130)."""

    exit_status = EXIT_INTERRUPTED


class Interrupted(Exception):
    """The caller has stopped waiting for an answer; never reaches a user."""


class Lost(SpcaError):
    """The simulator, the arm's driver or another process that a run needs has gone (exit status 1)."""

    exit_status = EXIT_NOT_SOLVED


class MotionError(SpcaError):
    """A motion was refused or stopped; `kind` says why in one word, one of `spca_core.skill.FailureKind`.

    `hit` is the name of the thing that would be hit, if one would.
    """

    def __init__(self, kind: str, message: str, hit: str = "") -> None:
        self.kind, self.hit = kind, hit
        super().__init__(message)

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.kind, str(self), self.hit)


class BudgetExhausted(SpcaError):
    """A bounded loop, or the money, token or time limit of a level, has run out."""
