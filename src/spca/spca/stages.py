"""Assembles the planning and coding stages according to a run's options."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from spca.learned import BEFORE, Learned, folder_of
from spca.proposals import OpenProposals, Proposals
from spca.rehearsing import Rehearsing, rehearsing_for
from spca.supervisor import Approve, Promote
from spca_coder.drafting import TOKEN_BUDGET, DraftingCoder
from spca_core.budgets import Budgets
from spca_core.extensions import find
from spca_core.options import RunOptions
from spca_core.ports.kit import Kit
from spca_core.ports.stages import Coder, Planner
from spca_core.ports.vision import VisionModel
from spca_core.ports.vocabulary import Vocabulary
from spca_core.result import Usage
from spca_core.run_folder import RunFolder
from spca_core.skill_package import library_source
from spca_llm.config import REPLAY
from spca_planner.planner import DraftingPlanner
from spca_planner.solver.process import SolverProcess
from spca_planner.trusted import TrustedDomains

PROPOSERS = "spca.proposers"


@dataclass(frozen=True)
class Stages:
    """What a supervisor needs besides the environment; `library` is the source of the working skills.

    `budgets` are the options' own, but with a proposer that learns, a failed attempt puts the world back (see
    `Budgets.rewind`).
    """

    planner: Planner
    coder: Coder
    library: str
    budgets: Budgets
    promote: Promote | None = None
    usage: Callable[[], dict[str, Usage]] = dict
    vision: VisionModel | None = None
    vocabulary: Vocabulary | None = None
    rehearsing: Rehearsing | None = None
    approve: Approve | None = None


@contextmanager
def open_stages(
    options: RunOptions, kit: Kit, folder: RunFolder, solver: SolverProcess | None = None
) -> Iterator[Stages]:
    """Planner, coder and library for that kit's environment, ready while the context lasts.

    `solver` is a warm process to plan with, where the caller keeps one over many runs.
    Raises InputError for an unknown proposer or an unusable model: no key, no such server, nothing recorded.
    """
    opened: OpenProposals = find(PROPOSERS, options.proposer, where="--proposer").load()
    with opened(kit, options, folder) as proposals:
        learned, domains, library = _known(options, kit, folder, proposals)
        budgets = options.budgets
        if proposals.learns and not options.ablations.no_rewind:
            budgets = budgets.model_copy(update={"rewind": True})
        with (
            DraftingPlanner(
                kit.name,
                proposals.planner,
                domains,
                kit.vocabulary(),
                budgets.drafts,
                options.solver_timeout_s,
                solver=solver if solver is not None and solver.engine == options.engine else None,
                engine=options.engine,
                one_validator=options.ablations.one_validator,
            ) as planner,
            rehearsing_for(kit, options, planner.others, planner.more) as rehearsing,
        ):
            yield Stages(
                planner=planner,
                coder=DraftingCoder(
                    proposals.coder,
                    kit.api,
                    budgets.code_drafts,
                    token_budget=math.inf if options.ablations.whole_library else TOKEN_BUDGET,
                ),
                library=library,
                budgets=budgets,
                promote=partial(learned.promote, options) if proposals.learns else None,
                usage=proposals.usage,
                vision=proposals.vision,
                vocabulary=kit.vocabulary(),
                rehearsing=rehearsing,
            )


def _known(
    options: RunOptions, kit: Kit, folder: RunFolder, proposals: Proposals
) -> tuple[Learned, TrustedDomains, str]:
    """What was learned before, the domains to start from, and the source of the skills to start with."""
    builtin = library_source(kit.name, kit.builtin_skills)
    learned = Learned(
        folder_of(options, folder),
        kit.name,
        "" if options.skills == "empty" else builtin,
        kit.build,
        kit.vocabulary(),
    )
    if proposals.learns:
        if not options.llm.startswith(REPLAY):
            learned.copy_to(folder.path / BEFORE)
        return learned, learned.domains, builtin if options.skills == "builtin" else learned.skills.source()
    # A proposer that does not learn needs no domains of other runs: each of its runs is a fresh one and
    # repeatable.
    library = learned.skills.source() if options.skills in ("trusted", "empty") else builtin
    return learned, TrustedDomains(folder.path / "trusted"), library
