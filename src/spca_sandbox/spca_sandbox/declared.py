"""The server side of a skill's `ctx`, written once as typed methods.

The API that skills and prompts see is derived from them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ForwardRef, TypeVar

from spca_core.ports.environment import CtxServer
from spca_core.skill import CtxApi, CtxMethod, CtxType

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
            signature=name.removeprefix(_PREFIX) + _signature(method),
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


def _signature(method: Callable[..., Any]) -> str:
    """Return a method's signature without `self`, as in `(name: str, speed: float = 1.0) -> None`."""
    signature = inspect.signature(method)
    parts = []
    for p in list(signature.parameters.values())[1:]:
        star = "*" if p.kind is inspect.Parameter.VAR_POSITIONAL else ""
        default = ""
        if p.default is not inspect.Parameter.empty:
            default = f" = {json.dumps(p.default) if isinstance(p.default, str) else p.default!r}"
        parts.append(f"{star}{p.name}: {p.annotation}{default}")
    return f"({', '.join(parts)}) -> {signature.return_annotation}"


def _type(kind: type) -> CtxType:
    fields = {
        name: value.__forward_arg__
        if isinstance(value, ForwardRef)
        else getattr(value, "__name__", str(value))
        for name, value in kind.__annotations__.items()
    }
    return CtxType(name=kind.__name__, doc=" ".join((inspect.getdoc(kind) or "").split()), fields=fields)
