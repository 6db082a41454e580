"""Puts the planning and coding stages together as a run's options ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spca.options import RunOptions
from spca.run_folder import RunFolder
from spca_core.errors import InputError
from spca_core.ports.environment import Environment
from spca_core.ports.stages import Coder, Planner


@dataclass(frozen=True)
class Stages:
    """What a supervisor needs besides the environment; `library` is the source of the working skills."""

    planner: Planner
    coder: Coder
    library: str
    promote: Callable[[str, tuple[str, ...]], None] | None = None


def model_configured() -> bool:
    """Whether a language model is configured on this machine."""
    return False


def build_stages(options: RunOptions, environment: Environment, folder: RunFolder) -> Stages:
    """Planner, coder and library for that environment. InputError for an unknown proposer or an unusable model."""
    from spca_coder.drafting import DraftingCoder
    from spca_planner.tabletop.proposer import BuiltinProposer

    from spca_planner.planner import DraftingPlanner
    from spca_planner.trusted import TrustedDomains

    if options.proposer != "builtin":
        raise InputError(f"unknown proposer '{options.proposer}'", hint="builtin")
    planner = DraftingPlanner(environment.name, BuiltinProposer(), TrustedDomains(folder.path / "trusted"))
    return Stages(planner=planner, coder=DraftingCoder(None), library=environment.builtin_skills.read_text())
