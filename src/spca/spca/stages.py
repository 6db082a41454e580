"""Puts the planning and coding stages together as a run's options ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from spca.kits import kit_of
from spca.learned import BEFORE, Learned, folder_of, recording_of
from spca.result import Usage
from spca.supervisor import Promote
from spca_coder.drafting import DraftingCoder
from spca_coder.language import LanguageCoder
from spca_core.budgets import Budgets
from spca_core.errors import InputError
from spca_core.options import RunOptions
from spca_core.plan import Mode
from spca_core.ports.chat import Role
from spca_core.ports.environment import Environment
from spca_core.ports.proposer import PlanProposer
from spca_core.ports.stages import Coder, Planner
from spca_core.run_folder import RunFolder
from spca_llm.chat import Chat
from spca_llm.config import LlmConfig, load_config
from spca_llm.connect import REPLAY, open_chat
from spca_planner.critics.vocabulary import Vocabulary
from spca_planner.language import LanguageProposer
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import SolverProcess
from spca_planner.trusted import TrustedDomains
from spca_sense.language import LanguageVision
from spca_sense.vision import VisionModel

LLM = "llm"
"""The folder in a run's folder where every exchange with a model is recorded."""
_PLANNER_ROLES: dict[Mode, Role] = {
    "fresh": "planner_big",
    "reuse": "planner_small",
    "replan": "planner_big",
    "repair": "planner_small",
}


@dataclass(frozen=True)
class Stages:
    """What a supervisor needs besides the environment; `library` is the source of the working skills.

    `budgets` are the options' own, but with a model a failed attempt puts the world back (see `Budgets.rewind`).
    """

    planner: Planner
    coder: Coder
    library: str
    budgets: Budgets
    promote: Promote | None = None
    usage: Callable[[], dict[str, Usage]] = dict
    vision: VisionModel | None = None
    vocabulary: Vocabulary | None = None


@contextmanager
def open_stages(
    options: RunOptions,
    environment: Environment | type[Environment],
    folder: RunFolder,
    solver: SolverProcess | None = None,
) -> Iterator[Stages]:
    """Planner, coder and library for that environment, warm while the context lasts.

    `solver` is a warm process to plan with, where the caller keeps one over many runs.
    Raises InputError for an unknown proposer or an unusable model: no key, no such server, nothing recorded.
    """
    if options.proposer == "builtin":
        builtin = kit_of(environment.name).builtin
        # It needs no domains of other runs: every run of it is a fresh one, and can be repeated.
        domains = TrustedDomains(folder.path / "trusted")
        library = environment.builtin_skills.read_text()
        if options.skills in ("trusted", "empty"):
            library = _learned(options, environment, folder).skills.source()
        with _planner(options, environment, builtin, domains, solver) as planner:
            coder = DraftingCoder(None, environment.api, options.budgets.code_drafts)
            yield Stages(planner, coder, library, options.budgets)
    elif options.proposer == "openai":
        with open_models(options, folder.path / LLM) as chat:
            proposers = {mode: LanguageProposer(chat, role) for mode, role in _PLANNER_ROLES.items()}
            learned = _learned(options, environment, folder)
            if not options.llm.startswith(REPLAY):
                learned.copy_to(folder.path / BEFORE)
            library = learned.skills.source()
            if options.skills == "builtin":
                library = environment.builtin_skills.read_text()
            with _planner(options, environment, proposers, learned.domains, solver) as planner:
                coder = DraftingCoder(LanguageCoder(chat), environment.api, options.budgets.code_drafts)
                yield Stages(
                    planner=planner,
                    coder=coder,
                    library=library,
                    budgets=options.budgets.model_copy(update={"rewind": True}),
                    promote=partial(learned.promote, options),
                    usage=lambda: usage_of(chat),
                    vision=LanguageVision(chat) if options.vision else None,
                    vocabulary=kit_of(environment.name).vocabulary,
                )
    else:
        hint = "builtin, openai, or auto"
        raise InputError(f"unknown proposer '{options.proposer}'", where="--proposer", hint=hint)


@contextmanager
def open_models(options: RunOptions, folder: Path) -> Iterator[Chat]:
    """The models of a run, recording into `folder`. Raises InputError unless each of them answers."""
    roles: list[Role] = ["planner_big", "planner_small", "coder"]
    if options.vision:
        roles.append("vision")
    replay = options.llm.startswith(REPLAY)
    config = None if replay else _shared(load_config(Path(options.llm) if options.llm else None))
    with open_chat(recording_of(options.llm) if replay else "", folder, config) as chat:
        chat.preflight(roles)
        yield chat


def usage_of(chat: Chat) -> dict[str, Usage]:
    """What each role has used so far, for a run's result."""
    wanted = Usage.model_fields
    return {
        role: Usage(**{name: value for name, value in totals if name in wanted})
        for role, totals in chat.ledger.totals().items()
    }


def _shared(config: LlmConfig) -> LlmConfig:
    """Who configures one planner means it for both sizes, and for the code as well. Images are another matter."""
    roles = dict(config.roles)
    substitutes: dict[Role, tuple[Role, ...]] = {
        "planner_big": ("planner_small", "coder"),
        "planner_small": ("planner_big", "coder"),
        "coder": ("planner_big", "planner_small"),
    }
    for role, others in substitutes.items():
        found = next((config.roles[o] for o in others if o in config.roles), None)
        if role not in roles and found is not None:
            roles[role] = found
    return config.model_copy(update={"roles": roles})


def _planner(
    options: RunOptions,
    environment: Environment | type[Environment],
    proposers: PlanProposer | dict[Mode, Any],
    domains: TrustedDomains,
    solver: SolverProcess | None,
) -> DraftingPlanner:
    return DraftingPlanner(
        environment.name,
        proposers,
        domains,
        kit_of(environment.name).vocabulary,
        options.budgets.drafts,
        options.solver_timeout_s,
        solver=solver,
    )


def _learned(options: RunOptions, environment: Environment | type[Environment], run: RunFolder) -> Learned:
    builtin = "" if options.skills == "empty" else environment.builtin_skills.read_text()
    kit = kit_of(environment.name)
    return Learned(folder_of(options, run), environment.name, builtin, kit.build, kit.vocabulary)
