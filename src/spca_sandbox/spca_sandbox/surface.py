"""A skill's `ctx`, written once as typed methods, and its form in the sandbox.

The API that skills and prompts see is derived from the methods; the worker gets signatures to check calls
against, and helpers to build.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from spca_core.errors import SpcaError
from spca_core.ports.environment import CtxServer
from spca_core.skill import CtxApi, CtxMethod, CtxType

_CONSTANT = re.compile(r"^\s*([A-Za-z_]\w*)\s*=\s*(.+?)\s*(?:#.*)?$")

NO_CTX = CtxApi(environment="none", methods=())
"""API of pure functions."""


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
    """Read `move_to(pose: Pose, speed: float = 1.0) -> None` as a Signature; ignore anything after it."""
    head = re.match(r"\s*(\w+)(\(.*?\))\s*(?:->|:|$)", text)
    try:
        function = ast.parse(f"def {head[1]}{head[2]}: ..." if head else "")
        for argument in ast.walk(function):
            if isinstance(argument, ast.arg):
                argument.annotation = None  # it may name what only the documentation knows
        made: dict[str, Any] = {}
        exec(compile(function, "<signature>", "exec"), made)
        return inspect.signature(made[head[1] if head else ""])
    except (SyntaxError, KeyError):
        raise SpcaError(f"not a Python signature: {text}") from None


_F = TypeVar("_F", bound=Callable[..., Any])
_PREFIX = "_do_"


def offered(method: _F) -> _F:
    """Mark a method `_do_NAME` as what `ctx.NAME` calls.

    Its signature and docstring are what a skill's author sees.
    """
    if not method.__name__.startswith(_PREFIX) or not method.__doc__:
        raise TypeError(f"{method.__name__}: an offered method is called {_PREFIX}NAME and has a docstring")
    setattr(method, "_offered", True)  # noqa: B010 - a function has no such attribute to a type checker
    return method


def api_of(
    server: type, environment: str, types: Sequence[type] = (), helpers: tuple[str, ...] = ()
) -> CtxApi:
    """Return the API of the offered methods of a class and its bases, in their order.

    `types` are the TypedDicts that they return.
    """
    methods = [
        CtxMethod(
            name=name.removeprefix(_PREFIX),
            signature=name.removeprefix(_PREFIX) + _written(method),
            doc=" ".join((inspect.getdoc(method) or "").split()),
        )
        for part in server.__mro__
        for name, method in vars(part).items()
        if getattr(method, "_offered", False)
    ]
    return CtxApi(
        environment=environment, methods=tuple(methods), types=tuple(map(_type, types)), helpers=helpers
    )


class DeclaredCtx(CtxServer):
    """Answers the calls of its offered methods, and no others. A subclass sets `api`, made by `api_of`."""

    api: CtxApi

    def call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Carry out one call. Raises ValueError for what is not in the API or does not fit its signature."""
        bound = getattr(self, f"{_PREFIX}{method}", None)
        if not getattr(bound, "_offered", False):
            known = ", ".join(m.name for m in self.api.methods)
            raise ValueError(f"ctx has no '{method}'; it has {known}")
        assert bound is not None
        try:
            return bound(*args, **kwargs)
        except TypeError as error:
            raise ValueError(f"ctx.{method}: {error}") from error


def _written(method: Callable[..., Any]) -> str:
    """Return a method's signature without `self`, as in `(name: str, speed: float = 1.0) -> None`."""
    signature = inspect.signature(method)
    parts = []
    for p in list(signature.parameters.values())[1:]:
        star = "*" if p.kind is inspect.Parameter.VAR_POSITIONAL else ""
        default = ""
        if p.default is not inspect.Parameter.empty:
            default = f" = {json.dumps(p.default) if isinstance(p.default, str) else repr(p.default)}"
        parts.append(f"{star}{p.name}: {p.annotation}{default}")
    return f"({', '.join(parts)}) -> {signature.return_annotation}"


def _type(kind: type) -> CtxType:
    fields = {
        name: str(getattr(value, "__forward_arg__", getattr(value, "__name__", value)))
        for name, value in kind.__annotations__.items()
    }
    return CtxType(name=kind.__name__, doc=" ".join((inspect.getdoc(kind) or "").split()), fields=fields)
