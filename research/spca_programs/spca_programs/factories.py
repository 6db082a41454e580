"""Finds what a name, `module:factory` or `file.py:factory` stands for."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from spca_core.errors import InputError
from spca_core.extensions import find


def factory_of(group: str, name: str) -> Any:
    """The entry point of a group; with a colon, an object of a module or file. Raises InputError for none."""
    if ":" not in name:
        return find(group, name).load()
    module, _, attribute = name.rpartition(":")
    try:
        return getattr(_of_file(Path(module)) if module.endswith(".py") else import_module(module), attribute)
    except (ImportError, AttributeError, OSError) as error:
        raise InputError(f"no world '{name}'", hint=str(error)) from error


def stand_in(name: str) -> Any:
    """What an extension brings in the place of a paper's model, by its name. Raises InputError."""
    return find("spca.stand_ins", name).load()


def _of_file(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = sys.modules[path.stem] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
