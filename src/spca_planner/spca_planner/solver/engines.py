"""The planning engines that can be chosen by name.

They come from installed packages and from Unified Planning itself.
"""

from __future__ import annotations

import sys
import types

from spca_core import extensions
from spca_core.errors import InputError
from spca_core.ports.engine import Engine

DEFAULT = "fast-downward"
GROUP = "spca.engines"
"""Entry points of this group name a class (or function) without arguments that makes an `Engine`."""


def open_engine(name: str) -> Engine:
    """The engine of that name. Raises InputError for one that is not installed."""
    plugins = extensions.installed(GROUP)
    if name in plugins:
        engine: Engine = plugins[name].load()()
        return engine
    skip_slow_imports()
    from spca_planner.solver.factory import FactoryEngine, oneshot_engines

    if name not in oneshot_engines():
        hint = f"installed: {', '.join(installed())}"
        raise InputError(f"unknown engine '{name}'", where="--engine", hint=hint)
    return FactoryEngine(name)


def installed() -> list[str]:
    """The names of all engines on this machine. Imports Unified Planning, which takes a second."""
    skip_slow_imports()
    from spca_planner.solver.factory import oneshot_engines

    return list(dict.fromkeys([*extensions.installed(GROUP), *sorted(oneshot_engines())]))


def require_engine(name: str) -> None:
    """Raises InputError, before anything is started, for an engine that is not installed."""
    if name not in extensions.installed(GROUP):
        open_engine(name)


def skip_slow_imports() -> None:
    """Keep Unified Planning from importing ConfigSpace, and with it most of scipy.

    It needs the module only for a type in the signature of a method that is never called here.

    A stand-in halves the time this process takes to start.
    """
    stand_in = types.ModuleType("ConfigSpace")
    setattr(stand_in, "ConfigurationSpace", object)  # noqa: B010 - a module has no such attribute to a type checker
    sys.modules.setdefault("ConfigSpace", stand_in)
