"""Finds names that nothing defines.

They would raise NameError only while the robot moves.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Collection, Iterator

from spca_coder.allowlist import FORBIDDEN_NAMES
from spca_coder.problem import CodeFault

_BUILTINS = frozenset(dir(builtins)) - FORBIDDEN_NAMES


def undefined(source: str, known: Collection[str]) -> list[CodeFault]:
    """Global names that `source` uses but neither it, nor Python, nor `known` defines.

    `source` must parse.
    """
    tree = ast.parse(source)
    found = []
    for name in lacking(source, known):
        uses = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
        found.append(
            CodeFault(
                message=f"nothing defines '{name}'; define it or use what exists",
                line=min(uses, default=None),
            )
        )
    return found


def lacking(source: str, known: Collection[str]) -> list[str]:
    """The names of which `undefined` tells."""
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
