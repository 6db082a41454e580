"""Puts the planning and coding stages together as a run's options ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from spca.options import RunOptions
from spca.run_folder import RunFolder
from spca_coder.drafting import DraftingCoder
from spca_core.errors import InputError
from spca_core.ports.environment import Environment
from spca_core.ports.stages import Coder, Planner
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import SolverProcess
from spca_planner.tabletop.proposer import BuiltinProposer
from spca_planner.tabletop.vocabulary import TabletopVocabulary
from spca_planner.trusted import TrustedDomains


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


@contextmanager
def open_stages(
    options: RunOptions,
    environment: Environment | type[Environment],
    folder: RunFolder,
    solver: SolverProcess | None = None,
) -> Iterator[Stages]:
    """Planner, coder and library for that environment, warm while the context lasts.

    `solver` is a warm process to plan with, where the caller keeps one over many runs.

    Raises InputError for an unknown proposer or an unusable model.
    """
    if options.proposer != "builtin":
        raise InputError(f"unknown proposer '{options.proposer}'", where="--proposer", hint="builtin")
    # The built-in proposer needs no domains of other runs: every run of it is a fresh one, and can be repeated.
    trusted = TrustedDomains(folder.path / "trusted")
    planner = DraftingPlanner(
        environment.name,
        BuiltinProposer(),
        trusted,
        TabletopVocabulary(),
        options.budgets.drafts,
        options.solver_timeout_s,
        solver=solver,
    )
    with planner:
        coder = DraftingCoder(None, environment.api, options.budgets.code_drafts)
        yield Stages(planner=planner, coder=coder, library=environment.builtin_skills.read_text())
