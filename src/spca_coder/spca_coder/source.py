"""Reading a library: its functions, their text and what they use.

Skills are source text here, never imported.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from spca_core.errors import InputError
from spca_core.skill import SkillSignature


@dataclass(frozen=True)
class Function:
    """A top-level function: `parameters` include `ctx`; `text` is its source with the comments just above it.

    `uses` are the names it mentions, for finding helpers and constants that belong to it.
    """

    name: str
    parameters: tuple[str, ...]
    doc: str
    line: int
    text: str
    uses: frozenset[str]

    @property
    def is_skill(self) -> bool:
        """True if a planner may use it: public, and its first parameter is `ctx`. Helpers begin with `_`."""
        return self.parameters[:1] == ("ctx",) and not self.name.startswith("_")


@dataclass(frozen=True)
class Source:
    """A parsed library: functions by name in their order, and the text of constants by name."""

    functions: dict[str, Function]
    constants: dict[str, str]
    imports: tuple[str, ...]

    def with_helpers(self, names: set[str]) -> tuple[set[str], set[str]]:
        """The functions of those names and all that they need: (function names, constant names)."""
        functions: set[str] = set()
        used: set[str] = set()
        todo = [n for n in names if n in self.functions]
        while todo:
            name = todo.pop()
            if name in functions:
                continue
            functions.add(name)
            used |= self.functions[name].uses
            todo += [n for n in self.functions[name].uses if n in self.functions]
        return functions, {n for n in self.constants if n in used}

    def own_helpers(self, names: set[str]) -> set[str]:
        """The helpers (names with `_`) that only the functions of those names need, directly or not."""
        own: set[str] = set()
        users = {h: {n for n, f in self.functions.items() if h in f.uses and n != h} for h in self.functions}
        while True:
            more = {
                h
                for h, by in users.items()
                if h.startswith("_") and h not in own and by and by <= names | own
            }
            if not more:
                return own
            own |= more

    def excerpt(self, functions: set[str], constants: set[str]) -> str:
        """Those functions and constants as source text, in the library's order."""
        parts = ["\n".join(dict.fromkeys(t for n, t in self.constants.items() if n in constants))]
        parts += [f.text for n, f in self.functions.items() if n in functions]
        return "\n\n\n".join(p for p in parts if p)


@lru_cache(maxsize=32)
def read(library: str) -> Source:
    """Parse a library. Raises InputError when it is not Python."""
    try:
        tree = ast.parse(library)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f"line {line}" if line else ""
        raise InputError(f"the skill library is not Python: {error}", where=where) from error
    lines = lines_of(library)
    functions, constants, imports = {}, {}, []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = _function(node, lines)
            continue
        text = _segment(node, lines)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append(text)
        else:
            constants.update(dict.fromkeys(_bound(node), text))
    return Source(functions, constants, tuple(imports))


def lines_of(source: str) -> list[str]:
    """The lines as Python counts them (a form feed, for one, ends none)."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def signatures(library: str) -> tuple[SkillSignature, ...]:
    """The skills as a planner sees them. Raises InputError when the library is not Python."""
    return tuple(
        SkillSignature(name=f.name, parameters=f.parameters[1:], doc=f.doc)
        for f in read(library).functions.values()
        if f.is_skill
    )


def same_code(a: str, b: str) -> bool:
    """Return whether two pieces of source mean the same to Python: comments and layout apart."""
    return ast.dump(ast.parse(a)) == ast.dump(ast.parse(b))


def meaning(code: str) -> str:
    """A text that is the same for two pieces of source that do the same: comments, layout and docs apart."""
    return ast.dump(_WithoutDocs().visit(ast.parse(code)))


def parameters_of(node: ast.FunctionDef) -> tuple[str, ...]:
    """All parameters by name, stars included in the names of collecting ones."""
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args)]
    names += [f"*{a.vararg.arg}"] if a.vararg else []
    names += [p.arg for p in a.kwonlyargs]
    names += [f"**{a.kwarg.arg}"] if a.kwarg else []
    return tuple(names)


def _function(node: ast.FunctionDef, lines: list[str]) -> Function:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    while first > 0 and lines[first - 1].startswith("#"):
        first -= 1
    return Function(
        name=node.name,
        parameters=parameters_of(node),
        doc=ast.get_docstring(node) or "",
        line=node.lineno,
        text="\n".join(lines[first : node.end_lineno]),
        uses=frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name)),
    )


def _segment(node: ast.stmt, lines: list[str]) -> str:
    """A statement's own text; offsets count bytes of UTF-8."""
    end = node.end_lineno or node.lineno
    part = [line.encode() for line in lines[node.lineno - 1 : end]]
    part[-1] = part[-1][: node.end_col_offset]
    part[0] = part[0][node.col_offset :]
    return b"\n".join(part).decode()


def _bound(node: ast.stmt) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


class _WithoutDocs(ast.NodeTransformer):
    """Documentation changes nothing of what a function does."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return self.generic_visit(node)
