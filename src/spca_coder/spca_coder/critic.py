"""Judges a draft of skills: allowed, fitting, mergeable, complete, importable.

In that order, cheapest first. An undefined name would otherwise raise NameError only while the robot moves.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import structlog

from spca_coder import allowlist
from spca_coder.allowlist import FORBIDDEN_NAMES
from spca_coder.attributes import unknown_attributes
from spca_coder.fits import header, misfit
from spca_coder.problem import CodeFault, report
from spca_coder.source import Source, lines_of, read
from spca_core.errors import InputError, SpcaError
from spca_core.model import Record
from spca_core.plan import ActionSchema
from spca_core.skill import CtxApi, SkillFailure, python_name
from spca_sandbox.host import SkillHost
from spca_sandbox.limits import Limits
from spca_sandbox.surface import Surface

if TYPE_CHECKING:
    from spca_coder.merge import Merged

_BUILTINS = frozenset(dir(builtins)) - FORBIDDEN_NAMES


log = structlog.get_logger(__name__)
_T = TypeVar("_T")


class Review(Record):
    """Either the library with the draft merged in, or why the draft was rejected."""

    library: str = ""
    written: tuple[str, ...] = ()
    rejection: str = ""


class CodeCritic:
    """Judges drafts for one environment's API.

    The sandbox that it imports them in starts with it: `close` it.
    """

    def __init__(self, api: CtxApi, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._api, self._surface = api, Surface(api)
        self._host = SkillHost(api, self._limits)

    def __enter__(self) -> CodeCritic:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox; harmless when called twice."""
        self._host.close()

    def judge(
        self, draft: str, wanted: Sequence[ActionSchema], library: str, objects: Collection[str] = ()
    ) -> Review:
        """Check that `draft` gives each wanted action its skill and fits into `library`.

        It must not name any of `objects`.

        Raises InputError when the library is not Python, or when this machine's sandbox is below the level
        asked for.
        """
        existing = read(library)
        merged = criticised(lambda: self._merged(draft, wanted, library, existing, objects), str)
        return Review(rejection=merged) if isinstance(merged, str) else self._imported(merged, draft)

    def _merged(
        self,
        draft: str,
        wanted: Sequence[ActionSchema],
        library: str,
        existing: Source,
        objects: Collection[str],
    ) -> Merged | str:
        """The library with the draft in it, or why the draft is rejected. Nothing of the draft runs."""
        problems = allowlist.check(draft, self._limits.modules, self._surface, objects)
        if problems:
            return report(problems, draft)
        problems = [*self._misfits(draft, wanted), *self._reserved(draft)]
        if problems:
            return report(problems, draft)
        asked = {python_name(s.name) for s in wanted}
        asked |= existing.own_helpers(asked)
        from spca_coder.merge import MergeConflict, merge  # LibCST: slow to import, seldom needed

        try:
            merged = merge(library, draft, asked)
        except MergeConflict as conflict:
            return str(conflict)
        problems = [
            *undefined(draft, self._known(merged.library)),
            *unknown_attributes(draft, self._api, self._limits.modules),
        ]
        return report(problems, draft) if problems else merged

    def _misfits(self, draft: str, wanted: Sequence[ActionSchema]) -> list[CodeFault]:
        functions = read(draft).functions
        problems = []
        for schema in wanted:
            function = functions.get(python_name(schema.name))
            if function is None:
                problems.append(CodeFault(message=f"lacks the skill `{header(schema)}`"))
                continue
            if why := misfit(function, schema):
                problems.append(CodeFault(message=why, line=function.line))
            if not function.doc:
                problems.append(CodeFault(message=f"{function.name} has no docstring", line=function.line))
        return problems

    def _reserved(self, draft: str) -> list[CodeFault]:
        """Names that belong to the environment: a draft must not take them."""
        source = read(draft)
        reserved = {*self._surface.records, *self._surface.constants, "CtxError", "MotionError", "ctx"}
        taken = [n for n in (*source.functions, *source.constants) if n in reserved]
        return [CodeFault(message=f"'{n}' is given by the environment; use another name") for n in taken]

    def _known(self, library: str) -> set[str]:
        source = read(library)
        imported = {
            (alias.asname or alias.name).split(".")[0]
            for node in ast.parse("\n".join(source.imports)).body
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
        given = {*self._surface.records, *self._surface.constants, "CtxError", "MotionError"}
        return {*source.functions, *source.constants, *imported, *given}

    def _imported(self, merged: Merged, draft: str) -> Review:
        result = self._host.load(merged.library)
        if isinstance(result, SkillFailure):
            line = _line_in(draft, merged.library, result.line)
            failure = [CodeFault(message=f"importing it: {result.message}", line=line)]
            return Review(rejection=report(failure, draft))
        return Review(library=merged.library, written=merged.written)


def _line_in(draft: str, library: str, line: int | None) -> int | None:
    """The draft's line that became that line of the library, if it is found."""
    text = lines_of(library)[line - 1 : line] if line else []
    lines = lines_of(draft)
    return lines.index(text[0]) + 1 if text and text[0] in lines else None


def undefined(source: str, known: Collection[str]) -> list[CodeFault]:
    """Global names that `source` uses but neither it, nor Python, nor `known` defines.

    `source` must parse.
    """
    tree = ast.parse(source)
    table = symtable.symtable(ast.unparse(_WithoutHints().visit(ast.parse(source))), "<draft>", "exec")
    defined = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    missing = set(_globals(table)) - defined - _BUILTINS - set(known)
    found = []
    for name in sorted(missing):
        uses = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
        found.append(
            CodeFault(
                message=f"nothing defines '{name}'; define it or use what exists",
                line=min(uses, default=None),
            )
        )
    return found


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        is_global = symbol.is_global() or table.get_type() == "module"
        if is_global and symbol.is_referenced():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals(child)


class _WithoutHints(ast.NodeTransformer):
    """Type hints are never evaluated, so they may name anything."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        assign = ast.Assign(targets=[node.target], value=node.value)
        return self.generic_visit(ast.copy_location(assign, node))


def criticised(critic: Callable[[], _T], rejected: Callable[[str], _T]) -> _T:
    """Ask a critic; what the text makes it raise becomes `rejected` with a sentence.

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
        log.warning("a critic stumbled over a text", exc_info=not isinstance(error, RecursionError))
        return rejected(f"it cannot be judged: {type(error).__name__}: {str(error)[:200]}")
