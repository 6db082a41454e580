"""Judges a draft of skills: allowed, fitting, complete, importable; in that order, cheapest first."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from spca_coder import allowlist
from spca_coder.allowlist import CodeFault, lacking, report, undefined
from spca_coder.source import Source, header, lines_of, misfit_reason, read, same_code
from spca_core.errors import InputError, SpcaError
from spca_core.log import log
from spca_core.model import Record
from spca_core.plan import ActionSchema
from spca_core.skill import CtxApi, SkillFailure, python_name
from spca_core.skill_package import joined, modules
from spca_core.stopping import Closing
from spca_sandbox.host import SkillHost
from spca_sandbox.limits import Limits
from spca_sandbox.surface import Surface

_T = TypeVar("_T")
_FRAMES = 5  # of a traceback that are noted, the innermost: a text may be nested very deeply


class Review(Record):
    """Either the library with the draft in it, and which skills are new or changed, or why it is rejected."""

    library: str = ""
    written: tuple[str, ...] = ()
    rejection: str = ""


class CodeCritic(Closing):
    """Judges drafts for one environment's API.

    The sandbox that it imports them in starts with it: `close` it.
    """

    def __init__(self, api: CtxApi, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._surface = Surface(api)
        self._given = {*self._surface.records, *self._surface.constants, "CtxError", "MotionError"}
        self._host = SkillHost(api, self._limits)

    def close(self) -> None:
        """End the sandbox; harmless when called twice."""
        self._host.close()

    def judge(
        self, draft: str, wanted: Sequence[ActionSchema], library: str, objects: Collection[str] = ()
    ) -> Review:
        """Check that `draft` gives each wanted action its skill, beside those of `library`.

        It must not name any of `objects`.

        Raises InputError when the library is not Python, or when this machine's sandbox is below the level
        asked for.
        """
        existing = read(library)
        taken = criticised(
            lambda: self._taken(draft, wanted, library, existing, objects), lambda why: Review(rejection=why)
        )
        return taken if taken.rejection else self._imported(taken, draft)

    def _taken(
        self,
        draft: str,
        wanted: Sequence[ActionSchema],
        library: str,
        existing: Source,
        objects: Collection[str],
    ) -> Review:
        """Judge all but the import. Nothing of the draft runs."""
        asked = {python_name(s.name) for s in wanted}
        known = {*existing.functions, *existing.constants, *self._limits.modules, *self._given}
        problems = allowlist.check(draft, self._limits.modules, self._surface, objects) or [
            *_misfits(draft, wanted),
            *self._reserved(draft),
            *_others(draft, existing, asked),
            *undefined(draft, known),
        ]
        if problems:
            return Review(rejection=report(problems, draft))
        return take_in(library, draft, asked, self._limits.modules)

    def _reserved(self, draft: str) -> list[CodeFault]:
        """Return faults for names that a draft takes although they belong to the environment."""
        source = read(draft)
        taken = [n for n in (*source.functions, *source.constants) if n in {*self._given, "ctx"}]
        return [CodeFault(message=f"'{n}' is given by the environment; use another name") for n in taken]

    def _imported(self, taken: Review, draft: str) -> Review:
        result = self._host.load(taken.library)
        if not isinstance(result, SkillFailure):
            return taken
        line = _line_in(draft, taken.library, result.line)
        failure = [CodeFault(message=f"importing it: {result.message}", line=line)]
        return Review(rejection=report(failure, draft))


def _misfits(draft: str, wanted: Sequence[ActionSchema]) -> list[CodeFault]:
    functions = read(draft).functions
    problems = []
    for schema in wanted:
        function = functions.get(python_name(schema.name))
        if function is None:
            problems.append(CodeFault(message=f"lacks the skill `{header(schema)}`"))
            continue
        if why := misfit_reason(function, schema):
            problems.append(CodeFault(message=why, line=function.line))
        if not function.doc:
            problems.append(CodeFault(message=f"{function.name} has no docstring", line=function.line))
    return problems


def _others(draft: str, library: Source, asked: Collection[str]) -> list[CodeFault]:
    """Return faults for skills of the library that the draft has otherwise and that were not asked for."""
    clash = [f for n, f in read(draft).skills.items() if n in library.skills and n not in asked]
    return [
        CodeFault(
            message=f"'{f.name}' exists already and was not asked for; leave it, or use another name",
            line=f.line,
        )
        for f in clash
        if not same_code(f.text, library.skills[f.name].text)
    ]


def _line_in(draft: str, library: str, line: int | None) -> int | None:
    """Return the draft's line that became that line of the library; None if it is not found."""
    text = lines_of(library)[line - 1 : line] if line else []
    lines = lines_of(draft)
    return lines.index(text[0]) + 1 if text and text[0] in lines else None


def criticised(critic: Callable[[], _T], rejected: Callable[[str], _T]) -> _T:
    """Ask a critic; return its answer, or what `rejected` makes of an error that the text makes it raise.

    No text may end a run: nested too deeply, with numbers too large, or in a way that nobody has thought of.
    A machine's faults (OSError) and the ends of a run (SpcaError, but for bad input) are passed on.
    """
    try:
        return critic()
    except InputError as error:
        return rejected(str(error))
    except (SpcaError, OSError):
        raise
    except Exception as error:
        log.warning("a critic stumbled over a text", {"error": traceback.format_exc(limit=-_FRAMES)})
        return rejected(f"it cannot be judged: {type(error).__name__}: {str(error)[:200]}")


class Clash(InputError):
    """The draft calls something of the library that needs a name which the draft has for something else."""


def take_in(
    library: str, draft: str, asked: Collection[str], importable: Collection[str] = ("math",)
) -> Review:
    """Return the library in which each skill of the draft that was `asked` for has a module of its own.

    Helpers and constants that the draft mentions and does not define are copied from the skill's present
    version, else from the library; what is `importable` is imported. A skill that the library has in the same
    form is passed over. Raises Clash, and InputError for what is not Python.
    """
    present, new = read(library), read(draft)
    texts = {module.skill: module.text for module in modules(library)}
    written = []
    for skill in (name for name in new.functions if name in asked):
        text = _module(skill, new, present, {*asked, *present.skills} - {skill}, importable)
        if skill not in present.skills or not same_code(text, present.module(skill)):
            texts[skill] = text
            written.append(skill)
    return Review(library=joined(texts), written=tuple(written))


def _module(skill: str, draft: Source, present: Source, others: set[str], importable: Collection[str]) -> str:
    own = draft.part({skill}, beside=others)
    homes = (present.home(skill), *(present.modules.values() or [present]))
    while names := lacking(own.code, others):
        found = ((n, h) for n in names for h in homes if n in h.functions or n in h.constants)
        name, home = next(found, ("", Source({}, {}, tuple(f"import {n}" for n in names if n in importable))))
        more = home.part({name}, beside=others) if name else home
        if not name and not more.imports:
            break
        for common in own.functions.keys() & more.functions.keys():
            if not same_code(own.functions[common].text, more.functions[common].text):
                raise Clash(f"'{name}' needs another '{common}' than yours: give yours another name")
        for common in own.constants.keys() & more.constants.keys():
            if own.constants[common] != more.constants[common]:
                raise Clash(f"'{name}' needs another value of '{common}': give yours another name")
        own = own.with_more(more)
    return own.code
