"""Merges new functions into a library and leaves every other byte of it unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import libcst as cst

from spca_coder.source import same_code
from spca_core.errors import InputError


class MergeConflict(Exception):
    """The draft would change something of the library that was not asked for; the message says what."""


@dataclass(frozen=True)
class Merged:
    """The library with the draft in it, and the functions that are new or changed."""

    library: str
    written: tuple[str, ...]


def merge(library: str, draft: str, asked: Collection[str]) -> Merged:
    """Merge the draft's functions into the library.

    Those in `asked` may replace existing functions; new names are added.

    What the library has already in the same form is passed over. A helper or a constant of the draft whose
    name the library has for something else gets a name of its own; any other change of the library raises
    MergeConflict. Constants and imports that are new are added. Raises InputError for what is not Python.
    """
    merging = _Merging(_parse(library, "the skill library"), asked)
    for statement, comments in _statements(merging.set_apart(_parse(draft, "the draft"))):
        merging.take(statement, comments)
    return Merged(merging.code(), tuple(merging.written))


class _Merging:
    """A library into which statements are taken one by one."""

    def __init__(self, base: cst.Module, asked: Collection[str]) -> None:
        self._base, self._asked = base, asked
        self._body: list[cst.BaseStatement] = list(base.body)
        self._places = {name: i for i, statement in enumerate(self._body) for name in _names(statement)}
        self._values: list[cst.BaseStatement] = []
        self._functions: list[cst.BaseStatement] = []
        self.written: list[str] = []

    def set_apart(self, draft: cst.Module) -> cst.Module:
        """The draft, its own names changed where the library has them for something else.

        A helper that is as in the library may stand on one that is not: then it is another one as well.
        """
        while taken := {name for statement in draft.body for name in self._taken(statement)}:
            used = {*self._places, *(name for statement in draft.body for name in _names(statement))}
            free = {name: next(n for i in count(2) if (n := f"{name}_{i}") not in used) for name in taken}
            draft = cst.ensure_type(draft.visit(_Renaming(free)), cst.Module)
        return draft

    def _taken(self, statement: cst.BaseStatement) -> Iterator[str]:
        """The names of a draft's helper or constants that the library has for something else."""
        if isinstance(statement, cst.FunctionDef):
            name = statement.name.value
            own = name.startswith("_") and name not in self._asked
            if own and name in self._places and not _same(self._body[self._places[name]], statement):
                yield name
        elif lacking := self._lacking(statement):
            yield from (name for small in lacking for name in _names(small) if name in self._places)

    def _lacking(self, statement: cst.CSTNode) -> list[cst.BaseSmallStatement]:
        there = [small for old in self._body for small in _small(old)]
        return [small for small in _small(statement) if not any(_same(small, other) for other in there)]

    def take(self, statement: cst.BaseStatement, comments: Sequence[cst.EmptyLine]) -> None:
        if isinstance(statement, cst.FunctionDef):
            self._take_function(statement, comments)
        elif isinstance(statement, cst.SimpleStatementLine) and not _is_docstring(statement):
            self._take_value(statement, comments)

    def _take_function(self, new: cst.FunctionDef, comments: Sequence[cst.EmptyLine]) -> None:
        name = new.name.value
        at = self._places.get(name)
        if at is None:
            self._functions.append(new.with_changes(leading_lines=[*_blank(2), *comments]))
        elif _same(self._body[at], new):
            return
        elif name in self._asked and isinstance(self._body[at], cst.FunctionDef):
            self._body[at] = _replaced(self._body[at], new, comments)
        else:
            raise MergeConflict(
                f"'{name}' exists already and was not asked for; leave it, or use another name"
            )
        self.written.append(name)

    def _take_value(self, new: cst.SimpleStatementLine, comments: Sequence[cst.EmptyLine]) -> None:
        if _is_future(new):
            return
        if lacking := self._lacking(new):
            self._values.append(new.with_changes(body=lacking, leading_lines=comments))

    def code(self) -> str:
        """The library's text: new values behind its own, or else at the end with the new functions."""
        at = _after_head(self._body)
        if at or not self._body:
            body, tail = [*self._body[:at], *self._values, *self._body[at:]], self._functions
        else:  # above the first function they would come between it and its comments
            first = [v.with_changes(leading_lines=[*_blank(2), *_leading(v)]) for v in self._values[:1]]
            body, tail = self._body, [*first, *self._values[1:], *self._functions]
        if tail and not body:
            tail = [tail[0].with_changes(leading_lines=_comments(_leading(tail[0]))), *tail[1:]]
        merged = self._base.with_changes(body=[*body, *tail])
        if self._values or self._functions:
            merged = merged.with_changes(has_trailing_newline=True)
        return merged.code


def _parse(text: str, what: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError) as error:
        message = getattr(error, "message", str(error))
        raise InputError(f"{what} is not Python: {message}") from error


def _statements(module: cst.Module) -> list[tuple[cst.BaseStatement, Sequence[cst.EmptyLine]]]:
    """Each top-level statement with the comments above it.

    Comments above the first statement belong to the module's header.
    """
    found: list[tuple[cst.BaseStatement, Sequence[cst.EmptyLine]]] = []
    for index, statement in enumerate(module.body):
        lines = _leading(statement)
        if index == 0:
            lines = [*module.header, *lines]
        found.append((statement, _comments(lines)))
    return found


class _Renaming(cst.CSTTransformer):
    """Other names for global ones; attributes and keywords of calls are none."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._new = names

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        return updated_node.with_changes(value=self._new.get(original_node.value, original_node.value))

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)


def _names(statement: cst.CSTNode) -> list[str]:
    if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
        return [statement.name.value]
    names = []
    for small in _small(statement) or (statement,):
        targets: list[cst.BaseExpression] = []
        if isinstance(small, cst.Assign):
            targets = [t.target for t in small.targets]
        elif isinstance(small, cst.AnnAssign):
            targets = [small.target]
        for target in targets:
            elements = target.elements if isinstance(target, (cst.Tuple, cst.List)) else []
            names += [n.value for n in (target, *(e.value for e in elements)) if isinstance(n, cst.Name)]
    return names


def _small(statement: cst.CSTNode) -> Sequence[cst.BaseSmallStatement]:
    return statement.body if isinstance(statement, cst.SimpleStatementLine) else ()


def _replaced(
    old: cst.BaseStatement | cst.SimpleStatementLine, new: cst.FunctionDef, comments: Sequence[cst.EmptyLine]
) -> cst.FunctionDef:
    """The new function at the old one's place; the old comments stay unless the new one brings its own."""
    lines = _leading(old)
    if comments:
        blank = [line for line in lines if line.comment is None]
        lines = [*blank, *comments]
    return new.with_changes(leading_lines=lines)


def _after_head(body: Sequence[cst.CSTNode]) -> int:
    """Behind the last import or constant that comes before the first function."""
    for index, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            return index
    return len(body)


def _same(a: cst.CSTNode, b: cst.CSTNode) -> bool:
    return same_code(_text(a), _text(b))


def _text(node: cst.CSTNode) -> str:
    bare = node.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) if hasattr(node, "semicolon") else node
    return cst.Module(body=[]).code_for_node(bare)


def _leading(statement: cst.CSTNode) -> list[cst.EmptyLine]:
    return list(getattr(statement, "leading_lines", ()))


def _comments(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    return [line.with_changes(indent=False) for line in lines if line.comment is not None]


def _blank(count: int) -> list[cst.EmptyLine]:
    return [cst.EmptyLine(indent=False)] * count


def _is_docstring(statement: cst.SimpleStatementLine) -> bool:
    return all(isinstance(s, cst.Expr) for s in statement.body)


def _is_future(statement: cst.SimpleStatementLine) -> bool:
    first = statement.body[0]
    return (
        isinstance(first, cst.ImportFrom)
        and isinstance(first.module, cst.Name)
        and first.module.value == "__future__"
    )
