"""A Ctx API in the sandbox's form.

It has method signatures to check calls against, and helpers to build in the worker.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from typing import Any

from spca_core.errors import SpcaError
from spca_core.skill import CtxApi

_CONSTANT = re.compile(r"^\s*([A-Za-z_]\w*)\s*=\s*(.+?)\s*(?:#.*)?$")


class Surface:
    """Surface that the code on the other side can reach.

    A helper of the form `pose(x, y, z, yaw=0.0) -> Pose: …` becomes a function that makes a record of its
    arguments (JSON {"x": …, "y": …, "z": …, "yaw": …}); `LEFT = 0` becomes a constant; any other text is
    documentation. Raises SpcaError for a signature that is not Python.
    """

    def __init__(self, api: CtxApi) -> None:
        self._signatures = {m.name: _signature(m.signature) for m in api.methods}
        self.fields = frozenset(name for kind in api.types for name in kind.fields)
        """Attributes of the values that calls return."""
        self.records: dict[str, list[list[Any]]] = {}
        self.constants: dict[str, Any] = {}
        for helper in api.helpers:
            self._add_helper(helper)

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the calls through `ctx`."""
        return tuple(self._signatures)

    def check(self, method: str, args: list[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise TypeError with a readable reason when the call does not fit the method's signature."""
        signature = self._signatures[method]
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"ctx.{method}{signature}: {error}") from None

    def _add_helper(self, helper: str) -> None:
        name = re.match(r"\s*([A-Za-z_]\w*)\s*\(", helper)
        if name:
            parameters = _signature(helper).parameters.values()
            self.records[name[1]] = [
                [p.name] if p.default is p.empty else [p.name, p.default] for p in parameters
            ]
        elif constant := _CONSTANT.match(helper):
            try:
                self.constants[constant[1]] = ast.literal_eval(constant[2])
            except (ValueError, SyntaxError):
                raise SpcaError(f"helper is no constant: {helper}") from None


def _signature(text: str) -> inspect.Signature:
    """Parse `move_to(pose: Pose, speed: float = 1.0) -> None` as a Signature; ignore anything after it."""
    head = text[: _closing(text) + 1]
    try:
        function = ast.parse(f"def {head}: ...").body[0]
    except SyntaxError:
        raise SpcaError(f"not a Python signature: {text}") from None
    assert isinstance(function, ast.FunctionDef)
    a = function.args
    kinds = inspect.Parameter
    parameters = []
    positional = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(positional) - len(a.defaults)) + list(a.defaults)
    for arg, default in zip(positional, defaults, strict=True):
        parameters.append(kinds(arg.arg, kinds.POSITIONAL_OR_KEYWORD, default=_default(default)))
    if a.vararg:
        parameters.append(kinds(a.vararg.arg, kinds.VAR_POSITIONAL))
    for arg, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        parameters.append(kinds(arg.arg, kinds.KEYWORD_ONLY, default=_default(default)))
    return inspect.Signature(parameters)


def _default(node: ast.expr | None) -> Any:
    return inspect.Parameter.empty if node is None else ast.literal_eval(node)


def _closing(text: str) -> int:
    """Return the index of the parenthesis that closes the first one."""
    depth = 0
    for i, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == ")" and depth == 0:
            return i
    raise SpcaError(f"not a Python signature: {text}")
