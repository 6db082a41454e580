"""The planning engines that can be chosen by name.

They come from installed packages and from Unified Planning itself.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import types
from typing import TYPE_CHECKING, NoReturn

from spca_core import extensions
from spca_core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from spca_core.ports.engine import Engine

DEFAULT = "fast-downward"
GROUP = "spca.engines"
"""Entry-point group whose members name a class (or function) without arguments that makes an `Engine`."""


def open_engine(name: str) -> Engine:
    """Return the engine of that name. Raises InputError for one that is not installed."""
    plugins = extensions.installed(GROUP)
    if name in plugins:
        engine: Engine = plugins[name].load()()
        return engine
    if name not in (known := installed()):
        hint = f"{did_you_mean(name, known)} installed: {', '.join(known)}".strip()
        raise InputError(f"unknown engine '{name}'", where="--engine", hint=hint)
    from spca_planner.solver.factory import FactoryEngine

    return FactoryEngine(name)


def installed() -> list[str]:
    """Return the names of all engines here. Imports Unified Planning, which takes a second."""
    import_unified_planning()
    from spca_planner.solver.factory import oneshot_engines

    return list(dict.fromkeys([*extensions.installed(GROUP), *sorted(oneshot_engines())]))


def require_engine(name: str) -> None:
    """Raise InputError, before anything is started, for an engine that is not installed."""
    if name not in extensions.installed(GROUP):
        open_engine(name)


def import_unified_planning() -> None:
    """Import Unified Planning and TAMER, but for what takes longer than they do and is not needed here.

    Of two modules they need a type in a signature; and they have git tell the version of whatever the working
    folder belongs to.
    """
    late = {name: _Late(name) for name in _TYPES.keys() - sys.modules.keys()}
    for name, module in late.items():
        setattr(module, _TYPES[name], object)
    sys.modules.update(late)
    run, subprocess.check_output = subprocess.check_output, _fail
    try:
        for name in ("unified_planning.io", "unified_planning.engines", "up_tamer.engine"):
            importlib.import_module(name)
    finally:
        subprocess.check_output = run
        for name, module in late.items():
            del sys.modules[name]
            delattr(module, _TYPES[name])


_TYPES = {"networkx": "DiGraph", "ConfigSpace": "ConfigurationSpace"}


class _Late(types.ModuleType):
    """Stand-in for a module that is loaded at first use, once the stand-in has left `sys.modules`."""

    def __getattr__(self, name: str) -> object:
        if sys.modules.get(self.__name__) is self:
            raise AttributeError(name)
        return getattr(importlib.import_module(self.__name__), name)


def _fail(*_: object, **__: object) -> NoReturn:
    raise OSError
