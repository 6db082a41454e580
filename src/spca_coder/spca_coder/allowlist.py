"""The Python that a skill may use.

This is quick feedback for the author of the code; the sandbox is what makes it safe.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import symtable
from collections.abc import Collection, Iterator, Sequence

from spca_coder.source import lines_of
from spca_core.errors import did_you_mean
from spca_core.model import Record
from spca_core.skill_package import MARK
from spca_sandbox.surface import Surface

_SHOWN = 8


class CodeFault(Record):
    """A fault of a draft: one sentence, and the line that it is about (None: the draft as a whole)."""

    message: str
    line: int | None = None


def report(problems: Sequence[CodeFault], source: str) -> str:
    """List the problems in the order of their lines, each with the line it is about; at most eight."""
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


MAX_CHARACTERS = 40_000
MAX_DEPTH = 100
"""Maximum depth of nesting; what walks over a tree later may have less of the stack left than the check."""
MAX_BITS = 1024
"""Maximum number of bits of a whole number; larger ones are no floats, and Python may not print them."""
FORBIDDEN_NAMES = frozenset((
    "exec", "eval", "compile", "open", "input", "breakpoint", "help", "exit", "quit", "globals",
    "locals", "vars", "getattr", "setattr", "delattr", "memoryview", "super", "type", "object",
    "classmethod", "staticmethod", "property",
))  # fmt: skip
_FRAMES = frozenset((
    "gi_frame", "gi_code", "cr_frame", "cr_code", "f_back", "f_builtins", "f_globals", "f_locals",
    "tb_frame", "tb_next",
))  # fmt: skip
_TOP_LEVEL = (ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
_BROAD = ("BaseException", "Exception", "KeyboardInterrupt", "SystemExit", "GeneratorExit")
_PLAIN = {name for kind in (str, list, dict, tuple, set, float, int, range) for name in dir(kind)} | {
    "kind", "hit", "args", "name", "message"
}  # fmt: skip
"""Attributes of plain values, and of errors."""
_ASYNCHRONOUS = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
_NEVER: dict[type[ast.AST], str] = {
    ast.ClassDef: "a class",
    ast.Global: "'global'",
    ast.Nonlocal: "'nonlocal'",
    **dict.fromkeys(_ASYNCHRONOUS, "asynchronous code"),
}


def check(
    source: str,
    modules: Collection[str] = ("math",),
    surface: Surface | None = None,
    objects: Collection[str] = (),
) -> list[CodeFault]:
    """Return all that is not allowed in `source`; empty when it may be tried.

    `modules` may be imported. With a `surface`, calls through `ctx` must exist and fit their signatures, and
    attributes must be those of some value. The names of `objects` may not be written into a skill: it has to
    work with any.
    """
    if len(source) > MAX_CHARACTERS:
        return [CodeFault(message=f"too long: {len(source)} characters, {MAX_CHARACTERS} allowed")]
    if MARK in source:
        return [CodeFault(message=f"'{MARK.strip()}' may not be written")]
    try:
        tree = ast.parse(source)
        compile(source, "<draft>", "exec", dont_inherit=True)  # finds more than the parser does
    except SyntaxError as error:
        return [CodeFault(message=f"not Python: {error.msg}", line=error.lineno)]
    except (ValueError, RecursionError, MemoryError) as error:
        return [CodeFault(message=f"not Python: {error}")]
    if deep := _too_deep(tree):
        return [deep]
    checker = _Checker(frozenset(modules), surface, objects)
    checker.visit(tree)
    return checker.problems


def _too_deep(tree: ast.AST) -> CodeFault | None:
    """Return the first part that is nested too deeply, found without recursion; None if there is none."""
    todo: list[tuple[ast.AST, int, int]] = [(tree, 0, 1)]
    while todo:
        node, depth, line = todo.pop()
        line = getattr(node, "lineno", line)
        if depth > MAX_DEPTH:
            return CodeFault(message=f"nested too deeply: {MAX_DEPTH} levels are allowed", line=line)
        todo += [(child, depth + 1, line) for child in ast.iter_child_nodes(node)]
    return None


class _Checker(ast.NodeVisitor):
    """Walks over the tree and notes what it finds."""

    def __init__(
        self, modules: frozenset[str], surface: Surface | None, objects: Collection[str] = ()
    ) -> None:
        self.problems: list[CodeFault] = []
        self._modules, self._surface = modules, surface
        names = "|".join(map(re.escape, sorted(objects, key=len, reverse=True)))
        self._objects = re.compile(rf"(?<!\w)(?:{names})(?!\w)") if names else None

    def _note(self, node: ast.AST, message: str) -> None:
        self.problems.append(CodeFault(message=message, line=getattr(node, "lineno", None)))

    def visit_Module(self, node: ast.Module) -> None:
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        for statement in body:
            if not isinstance(statement, _TOP_LEVEL):
                self._note(statement, "only functions, constants and imports may stand at the top level")
        names = [s.name for s in body if isinstance(s, ast.FunctionDef)]
        for name in sorted({n for n in names if names.count(n) > 1}):
            self._note(node, f"'{name}' is defined twice")
        for statement in body:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            self._note(node, "decorators are not allowed")
        if node.name.startswith("__"):
            self._note(node, f"'{node.name}' may not be used")
        self.visit(node.args)
        for statement in node.body[1:] if ast.get_docstring(node) is not None else node.body:
            self.visit(statement)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._module(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._module(node, "a relative module" if node.level else node.module or "")

    def _module(self, node: ast.AST, name: str) -> None:
        if name not in self._modules and name != "__future__":
            self._note(node, f"{name} may not be imported; allowed: {', '.join(sorted(self._modules))}")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in FORBIDDEN_NAMES or node.id.startswith("__"):
            self._note(node, f"'{node.id}' may not be used")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr.startswith("_") or node.attr in _FRAMES:
            self._note(node, f"the attribute '{node.attr}' may not be used")
        elif not isinstance(node.ctx, ast.Load):
            self._note(node, "attributes may not be assigned: values are read-only, modules belong to others")
        elif self._surface and _is_ctx(node.value):
            if node.attr not in self._surface.methods:
                self._note(node, f"ctx has no '{node.attr}'; it has: {', '.join(self._surface.methods)}")
        elif isinstance(node.value, ast.Name) and node.value.id in self._modules:
            if not hasattr(importlib.import_module(node.value.id), node.attr):
                self._note(node, f"{node.value.id} has no '{node.attr}'")
        elif self._surface and self._surface.fields and node.attr not in self._surface.fields | _PLAIN:
            has = f"values have {', '.join(sorted(self._surface.fields))}"
            has = did_you_mean(node.attr, self._surface.fields) or has
            self._note(node, f"nothing here has an attribute '{node.attr}'; {has}")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, int) and node.value.bit_length() > MAX_BITS:
            self._note(node, f"a number of {node.value.bit_length()} bits; {MAX_BITS} are allowed")
        elif isinstance(node.value, str) and "__" in node.value and "{" in node.value:
            self._note(node, "double underscores in a text with braces may not be used")
        elif isinstance(node.value, str) and self._objects and (found := self._objects.search(node.value)):
            told = f"the object '{found[0]}' is named here; a skill takes its objects from its arguments"
            self._note(node, told)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        caught = list(ast.walk(node.type)) if node.type else []
        broad = [n for n in caught if isinstance(n, ast.Name) and n.id in _BROAD]
        if node.type is None or broad:
            told = "this catches everything; catch MotionError, or the one error that you can deal with"
            self._note(node, told)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        starred = any(isinstance(a, ast.Starred) for a in node.args) or None in {k.arg for k in node.keywords}
        method = function.attr if isinstance(function, ast.Attribute) and _is_ctx(function.value) else ""
        if self._surface and method in self._surface.methods and not starred:
            given = dict.fromkeys(k.arg or "" for k in node.keywords)
            try:
                self._surface.check(method, [None] * len(node.args), given)
            except TypeError as error:
                self._note(node, str(error))
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        if words := _NEVER.get(type(node)):
            self._note(node, f"{words} is not allowed; write plain functions")
        super().generic_visit(node)


def _is_ctx(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "ctx"


_BUILTINS = frozenset(dir(builtins)) - FORBIDDEN_NAMES


def undefined(source: str, known: Collection[str]) -> list[CodeFault]:
    """Return faults for global names that neither `source`, nor Python, nor `known` defines.

    `source` must parse.
    """
    uses = [(node.lineno, node.id) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    return [
        CodeFault(
            message=f"nothing defines '{name}'; define it or use what exists",
            line=min((line for line, used in uses if used == name), default=None),
        )
        for name in lacking(source, known)
    ]


def lacking(source: str, known: Collection[str]) -> list[str]:
    """Return the global names that neither `source`, nor Python, nor `known` defines."""
    table = symtable.symtable(ast.unparse(_WithoutHints().visit(ast.parse(source))), "<draft>", "exec")
    defined = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    return sorted(set(_globals(table)) - defined - _BUILTINS - set(known))


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        is_global = symbol.is_global() or table.get_type() == "module"
        if is_global and symbol.is_referenced():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals(child)


class _WithoutHints(ast.NodeTransformer):
    """Takes type hints out of a tree: they are never evaluated, so they may name anything."""

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
