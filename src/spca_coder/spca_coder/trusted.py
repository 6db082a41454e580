"""The trusted library of an environment: skills that have solved a level, on disk.

Only what was learned is stored; `source` lays it over the skills that come with the environment. A skill gets in by a
referee's success alone, and one that is trusted already changes only if every level solved with it still passes.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from pydantic import ValidationError

from spca_coder.merge import merge
from spca_coder.source import Source, read, same_code
from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.validation import first_problem

log = structlog.get_logger(__name__)

SKILLS, RECORD, LOCK = "skills.py", "solved.json", ".lock"

Revalidate = Callable[[str, str], bool]
"""Whether a level (second) still passes with a library (first, source text): replayed in lockstep."""


class Promotion(Record):
    """What a success changed: skills now trusted in their new form, and skills refused with the reason."""

    promoted: tuple[str, ...] = ()
    refused: dict[str, str] = {}


class _Solved(Record):
    """Levels by skill name."""

    levels: dict[str, tuple[str, ...]] = {}


class TrustedLibrary:
    """One environment's trusted skills, in `folder`. Safe for several processes at a time.

    `builtin` is the source of the skills that come with the environment ("" to learn from nothing).
    """

    def __init__(self, folder: Path, builtin: str = "") -> None:
        self._folder, self._builtin = folder, builtin
        read(builtin)

    def source(self) -> str:
        """The trusted library as source text. Raises InputError when the file on disk is not Python."""
        return self._over_builtin(self._learned())

    def levels(self, skill: str) -> tuple[str, ...]:
        """The levels that were solved with a skill, in the order of their first success."""
        return self._solved().levels.get(skill, ())

    def promote(
        self, working: str, used: Collection[str], level: str, revalidate: Revalidate | None = None
    ) -> Promotion:
        """The referee said success: `level` was solved with the skills `used` out of the library `working`.

        New skills become trusted, with the helpers and constants they need. A skill that is trusted in another form,
        and any that stands on one, becomes so only if `revalidate` says of each level it solved that it still passes;
        otherwise everything that stands on the change is refused and the trusted library stays as it was.
        """
        candidate = read(working)
        functions, _ = candidate.with_helpers(set(used))
        with self._locked():
            learned, solved = self._learned(), self._solved()
            present = self._over_builtin(learned)
            trusted = read(present)
            again = _Revalidation(present, working, level, solved, revalidate)
            refused = again.refusals(functions)
            kept, needed = candidate.with_helpers(set(used) - set(refused))
            new = {n for n in kept if n not in trusted.functions or n in _changed(trusted, candidate, kept)}
            if new:
                learned = self._without_builtin(_overlay(learned, candidate.excerpt(kept, needed), working))
                self._write(SKILLS, learned)
            # The skills first: should it end between the two, a level is forgotten, but none is claimed falsely.
            credited = [n for n in used if n in kept]
            self._write(RECORD, _credit(solved, credited, level).model_dump_json(indent=2) + "\n")
        promotion = Promotion(promoted=tuple(sorted(new)), refused=refused)
        log.info("promotion", level=level, promoted=promotion.promoted, refused=promotion.refused)
        return promotion

    # -- on disk -------------------------------------------------------------------------------------------------

    def _learned(self) -> str:
        path = self._folder / SKILLS
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        try:
            read(text)
        except InputError as error:
            raise InputError(
                error.what, where=f"{path} {error.where}".strip(), hint="mend or remove it"
            ) from error
        return text

    def _solved(self) -> _Solved:
        path = self._folder / RECORD
        if not path.is_file():
            return _Solved()
        try:
            return _Solved.model_validate(json.loads(path.read_text(encoding="utf-8")))
        except ValidationError as error:
            raise InputError(
                "not a record of solved levels", where=str(path), hint=first_problem(error)
            ) from error
        except ValueError as error:
            raise InputError("not JSON", where=str(path), hint=str(error)) from error

    def _write(self, name: str, text: str) -> None:
        """Replace a file as a whole or not at all."""
        path = self._folder / name
        temporary = path.with_name(f".{name}.{os.getpid()}")
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    # -- builtin and learned -------------------------------------------------------------------------------------

    def _over_builtin(self, learned: str) -> str:
        return _overlay(self._builtin, learned, learned) if learned.strip() else self._builtin

    def _without_builtin(self, learned: str) -> str:
        """Only what the builtin skills do not have in the same form."""
        builtin, source = read(self._builtin), read(learned)
        functions = {
            n
            for n, f in source.functions.items()
            if n not in builtin.functions or not same_code(f.text, builtin.functions[n].text)
        }
        constants = {n for n, text in source.constants.items() if builtin.constants.get(n) != text}
        body = source.excerpt(functions, constants)
        imports = "\n".join(source.imports)
        return "\n\n\n".join(part for part in (imports, body) if part) + "\n" if body else ""


def _overlay(base: str, excerpt: str, origin: str) -> str:
    """`base` with an excerpt of `origin` laid over it: its functions win, its imports come along."""
    imports = "\n".join(read(origin).imports)
    text = f"{imports}\n{excerpt}\n" if imports else f"{excerpt}\n"
    return merge(base, text, set(read(excerpt).functions)).library


class _Revalidation:
    """Decides which functions of a working library may not become trusted, and why."""

    def __init__(
        self, present: str, working: str, level: str, solved: _Solved, revalidate: Revalidate | None
    ) -> None:
        self._present, self._working = present, working
        self._trusted, self._candidate = read(present), read(working)
        self._level, self._solved, self._revalidate = level, solved, revalidate

    def refusals(self, functions: set[str]) -> dict[str, str]:
        """The reason for each of `functions` that is refused."""
        _, constants = self._candidate.with_helpers(functions)
        trusted = self._trusted.constants
        clash = {n for n in constants if n in trusted and trusted[n] != self._candidate.constants[n]}
        refused = self._standing_on(clash, functions, f"needs another value of {', '.join(sorted(clash))}")
        changed = _changed(self._trusted, self._candidate, functions - set(refused))
        if changed and (why := self._why_not(changed, functions - set(refused))):
            refused |= self._standing_on(changed, functions, f"changes {', '.join(sorted(changed))}, {why}")
        return refused

    def _why_not(self, changed: set[str], functions: set[str]) -> str:
        touched = [n for n in self._trusted.functions if _stands_on(self._trusted, n, changed)]
        levels = dict.fromkeys(old for n in touched for old in self._solved.levels.get(n, ()))
        levels.pop(self._level, None)
        if levels and self._revalidate is None:
            return f"and {', '.join(levels)} were not tried again"
        proposed = _overlay(
            self._present, self._candidate.excerpt(*self._candidate.with_helpers(functions)), self._working
        )
        failing = [old for old in levels if self._revalidate and not self._revalidate(proposed, old)]
        return f"and {', '.join(failing)} would not pass any more" if failing else ""

    def _standing_on(self, names: set[str], functions: set[str], why: str) -> dict[str, str]:
        return {n: why for n in sorted(functions) if _stands_on(self._candidate, n, names)}


def _changed(trusted: Source, candidate: Source, functions: set[str]) -> set[str]:
    """The functions that the trusted library has in another form."""
    known = (n for n in functions if n in trusted.functions)
    return {n for n in known if not same_code(trusted.functions[n].text, candidate.functions[n].text)}


def _stands_on(source: Source, name: str, changed: set[str]) -> bool:
    """Whether a function is among the changed names, or needs one of them."""
    functions, constants = source.with_helpers({name})
    return bool((functions | constants) & changed)


def _credit(solved: _Solved, skills: Collection[str], level: str) -> _Solved:
    levels = dict(solved.levels)
    for skill in sorted(skills):
        levels[skill] = tuple(dict.fromkeys((*levels.get(skill, ()), level)))
    return _Solved(levels=levels)
