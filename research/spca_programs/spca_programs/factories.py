"""Finds what a name or `module:factory` stands for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from spca_core.errors import InputError
from spca_core.extensions import find


def factory_of(group: str, name: str) -> Any:
    """The entry point of a group, or for a name with a colon an object of a module.

    Raises InputError where there is none.
    """
    if ":" not in name:
        return find(group, name).load()
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"no world '{name}'", hint=str(error)) from error
