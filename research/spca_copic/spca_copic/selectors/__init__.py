"""Selectors: what scores the candidates, behind one port."""

from __future__ import annotations

from typing import cast

from spca_copic.ports import Selector
from spca_core.errors import InputError, one_of
from spca_programs.factories import stand_in

NAMES = ("hashed", "language", "judge")


def make_selector(name: str, seed: int = 0) -> Selector:
    """An untrained selector by its name. Raises InputError for an unknown one."""
    if name == "hashed":
        return cast(Selector, stand_in(name)(seed))
    if name == "language":
        from spca_copic.selectors.language import LanguageModelSelector

        return LanguageModelSelector(seed=seed)
    if name == "judge":
        from spca_copic.baselines.judge import ModelJudge

        return ModelJudge()
    raise InputError(f"unknown selector '{name}'", "--selector", one_of(name, NAMES))
