"""Selectors: what scores the candidates, behind one port."""

from __future__ import annotations

from spca_core.errors import InputError
from spca_core.ports.selector import Selector

NAMES = ("hashed",)


def make_selector(name: str, seed: int = 0) -> Selector:
    """An untrained selector by its name. Raises InputError for an unknown one."""
    if name == "hashed":
        from spca_copic.selectors.hashed import HashedOptions, HashedSelector

        return HashedSelector(HashedOptions(seed=seed))
    raise InputError(f"unknown selector '{name}'", "--selector", f"there are {', '.join(NAMES)}")
