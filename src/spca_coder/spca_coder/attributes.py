"""Finds attributes that no value from `ctx` has.

Otherwise they would raise AttributeError only while the robot is moving.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import importlib
import re
from collections.abc import Collection, Iterator

from spca_coder.problem import CodeFault
from spca_core.skill import CtxApi, CtxType

_LIST = re.compile(r"list\[(.+)\]")
_SAME_ELEMENTS = ("sorted", "list", "reversed", "tuple")
_ONE_ELEMENT = ("min", "max", "next", "iter")
_PLAIN = {name for kind in (str, list, dict, tuple, set, float, int, range) for name in dir(kind)}
_ERRORS = {"kind", "args", "name", "message"}


def unknown_attributes(source: str, api: CtxApi, modules: Collection[str] = ("math",)) -> list[CodeFault]:
    """Attributes in `source` (which must parse) that the value they are asked of does not have.

    What a call of `ctx` returns is followed through assignments, loops and subscripts; of a value whose type
    is not known, an attribute must at least exist on some value.
    """
    return [
        problem
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
        for problem in _Function(node, api, modules).problems()
    ]


class _Function:
    """One function; types are names such as `Pose` or `list[Pose]`, "" where unknown."""

    def __init__(self, node: ast.FunctionDef, api: CtxApi, modules: Collection[str]) -> None:
        self._node, self._modules = node, set(modules)
        self._types: dict[str, CtxType] = {t.name: t for t in api.types}
        self._returns = {m.name: m.signature.rpartition("->")[2].strip() for m in api.methods}
        self._makes = {h.partition("(")[0].strip(): _returned(h) for h in api.helpers if "->" in h}
        self._names: dict[str, str] = {}
        for _ in range(3):  # a variable may get its type from one that is bound further down
            kinds: dict[str, set[str]] = {}
            for name, kind in self._bindings():
                kinds.setdefault(name, set()).add(kind)
            self._names = {
                name: next(iter(found)) if len(found) == 1 else "" for name, found in kinds.items()
            }

    def problems(self) -> Iterator[CodeFault]:
        fields = {f for t in self._types.values() for f in t.fields}
        for node in ast.walk(self._node):
            if not isinstance(node, ast.Attribute) or _is_name(node.value, "ctx"):
                continue
            if isinstance(node.value, ast.Name) and node.value.id in self._modules:
                if not hasattr(importlib.import_module(node.value.id), node.attr):
                    yield self._problem(node, f"{node.value.id} has no '{node.attr}'")
                continue
            kind = self._type(node.value)
            if kind in self._types:
                has = self._types[kind].fields
                if node.attr not in has:
                    yield self._problem(node, f"a {kind} has no '{node.attr}'; it has {', '.join(has)}")
            elif kind.startswith("list["):
                if node.attr not in dir(list):
                    yield self._problem(node, f"a list has no '{node.attr}'; take one of its elements")
            elif self._types and node.attr not in fields | _PLAIN | _ERRORS:
                near = difflib.get_close_matches(node.attr, fields, n=1)
                hint = (
                    f"; did you mean '{near[0]}'?" if near else f"; values have {', '.join(sorted(fields))}"
                )
                yield self._problem(node, f"nothing here has an attribute '{node.attr}'{hint}")

    def _problem(self, node: ast.Attribute, message: str) -> CodeFault:
        return CodeFault(message=message, line=node.lineno)

    def _bindings(self) -> Iterator[tuple[str, str]]:
        """Every name that is bound in the function, with the type of its value; arguments are texts."""
        for arg in self._node.args.args[1:]:
            yield arg.arg, ""
        for node in ast.walk(self._node):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    yield from _bound(target, self._type(node.value))
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                yield from _bound(node.target, self._type(node.value))
            elif isinstance(node, ast.NamedExpr):
                yield node.target.id, self._type(node.value)
            elif isinstance(node, (ast.For, ast.comprehension)):
                yield from _bound(node.target, _element(self._type(node.iter)))
            elif isinstance(node, ast.AugAssign):
                yield from _bound(node.target, "")
            elif isinstance(node, ast.ExceptHandler) and node.name:
                yield node.name, ""
            elif isinstance(node, ast.Lambda):
                yield from ((arg.arg, "") for arg in node.args.args)

    def _type(self, node: ast.expr) -> str:
        """The type of an expression; "" where it is not known."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, "")
        if isinstance(node, ast.Attribute):
            record = self._types.get(self._type(node.value))
            return _plain(record.fields.get(node.attr, "")) if record else ""
        if isinstance(node, ast.Subscript):
            kind = self._type(node.value)
            return kind if isinstance(node.slice, ast.Slice) else _element(kind)
        if isinstance(node, ast.IfExp):
            return self._same(node.body, node.orelse)
        if isinstance(node, ast.BoolOp):
            return self._same(*node.values)
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and (kind := self._type(node.elt)):
            return f"list[{kind}]"
        return ""

    def _called(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Attribute) and _is_name(node.func.value, "ctx"):
            return _plain(self._returns.get(node.func.attr, ""))
        if not isinstance(node.func, ast.Name):
            return ""
        if node.func.id in self._makes:
            return self._makes[node.func.id]
        first = self._type(node.args[0]) if node.args else ""
        if node.func.id in _SAME_ELEMENTS:
            return first if first.startswith("list[") else ""
        return _element(first) if node.func.id in _ONE_ELEMENT and len(node.args) <= 2 else ""

    def _same(self, *nodes: ast.expr) -> str:
        kinds = {self._type(n) for n in nodes if not (isinstance(n, ast.Constant) and n.value is None)}
        return kinds.pop() if len(kinds) == 1 else ""


def _bound(target: ast.expr, kind: str) -> Iterator[tuple[str, str]]:
    if isinstance(target, ast.Name):
        yield target.id, kind
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _bound(part, "")
    elif isinstance(target, ast.Starred):
        yield from _bound(target.value, "")


def _plain(kind: str) -> str:
    """A type without `None`: code that uses the value has made sure that there is one."""
    parts = [p.strip() for p in kind.split("|") if p.strip() != "None"]
    kind = parts[0] if len(parts) == 1 else ""
    return "" if hasattr(builtins, kind) else kind


def _element(kind: str) -> str:
    found = _LIST.fullmatch(kind)
    return _plain(found[1]) if found else ""


def _returned(helper: str) -> str:
    return helper.partition("->")[2].partition(":")[0].strip()


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
