"""Selectors: what scores the candidates, behind one port."""

from __future__ import annotations

from spca_copic.ports import Selector
from spca_core.errors import InputError

NAMES = ("hashed", "language", "judge")


def make_selector(name: str, seed: int = 0) -> Selector:
    """An untrained selector by its name. Raises InputError for an unknown one."""
    if name == "hashed":
        from spca_copic.selectors.hashed import HashedSelector

        return HashedSelector(seed)
    if name == "language":
        from spca_copic.selectors.language import LanguageModelSelector

        return LanguageModelSelector(seed=seed)
    if name == "judge":
        from spca_copic.baselines.judge import ModelJudge

        return ModelJudge()
    raise InputError(f"unknown selector '{name}'", "--selector", f"there are {', '.join(NAMES)}")
