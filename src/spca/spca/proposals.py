"""The source of plans and skills in a run: the built-in proposers, a language model, or an installed plugin.

An entry of the group `spca.proposers` names an `OpenProposals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from spca.kits import PROPOSERS
from spca.stages import Rehearsing, Stages
from spca_coder.drafting import TOKEN_BUDGET, DraftingCoder
from spca_coder.source import LibraryReader
from spca_core.extensions import find
from spca_core.options import REPLAY, RunOptions
from spca_core.plan import Mode
from spca_core.ports.kit import Kit
from spca_core.ports.proposer import CodeProposer, PlanProposer
from spca_core.ports.reading import Readers
from spca_core.result import Usage
from spca_core.run_folder import RunFolder
from spca_core.skill_package import library_source
from spca_planner.planner import DraftingPlanner
from spca_planner.prediction import PddlReader
from spca_planner.solver.engines import DEFAULT
from spca_planner.solver.process import SolverProcess, warm_solver
from spca_planner.trusted import TrustedDomains

if TYPE_CHECKING:
    from spca.learned import Learned
    from spca.rehearsal.rehearsal import SampledRehearsal
    from spca_core.ports.chat import VisionModel


@dataclass(frozen=True)
class Proposals:
    """Parts that a proposer brings to a run.

    `planner` may differ by mode. Without a `coder`, an action that has no skill ends the run; `token_budget`
    bounds the existing skills that it is shown, `actions` says what their actions need and bring. What
    `learns` may use skills and domains of earlier runs, adds its own after a success, and may try again from
    where its plan began. Drafts are judged in the process `solver`, by default the one that all runs share.

    An experiment that exchanges parts is a proposer that opens another one: a run's options name it.
    """

    planner: PlanProposer | Mapping[Mode, PlanProposer]
    coder: CodeProposer | None = None
    vision: VisionModel | None = None
    learns: bool = False
    usage: Callable[[], dict[str, Usage]] = field(default=dict)
    token_budget: float = TOKEN_BUDGET
    actions: Callable[[], Mapping[str, str]] = dict
    solver: SolverProcess | None = None


OpenProposals = Callable[[Kit, RunOptions, RunFolder], AbstractContextManager[Proposals]]
"""Function that opens what a run needs, as long as the context lasts.

Raises InputError for what cannot work: no key, no such server, nothing recorded.
"""


@contextmanager
def open_builtin(kit: Kit, options: RunOptions, folder: RunFolder) -> Iterator[Proposals]:
    """Open the environment's own proposer, which is deterministic, uses no model and writes no skills."""
    yield Proposals(kit.builtin())


@contextmanager
def open_stages(options: RunOptions, kit: Kit, folder: RunFolder) -> Iterator[Stages]:
    """Open the planner, coder and library of a run in that kit's environment, as long as the context lasts.

    Raises InputError for an unknown proposer or an unusable model: no key, no such server, nothing recorded.
    """
    opened: OpenProposals = find(PROPOSERS, options.proposer, where="--proposer").load()
    with opened(kit, options, folder) as proposals:
        readers = Readers(PddlReader(kit.vocabulary()), LibraryReader())
        learned, domains, library = _known(options, kit, folder, proposals, readers)
        with (
            DraftingPlanner(
                kit.name,
                proposals.planner,
                domains,
                kit.vocabulary(),
                options.budgets.drafts,
                options.solver_timeout_s,
                solver=proposals.solver or (warm_solver() if options.engine == DEFAULT else None),
                engine=options.engine,
                no_room=lambda plan, seen: kit.no_room(options, plan, seen),
            ) as planner,
            ExitStack() as stack,
        ):

            def rehearsal() -> SampledRehearsal:  # made when it is first used
                from spca.rehearsal.rehearsal import SampledRehearsal

                return stack.enter_context(closing(SampledRehearsal(partial(kit.twin, options))))

            rehearsing = Rehearsing(rehearsal, options.rehearse, options.budgets, readers, planner.others)
            yield Stages(
                planner=planner,
                coder=DraftingCoder(
                    proposals.coder,
                    kit.api,
                    options.budgets.code_drafts,
                    token_budget=proposals.token_budget,
                    actions=proposals.actions,
                ),
                readers=readers,
                library=library,
                budgets=options.budgets,
                rewind=proposals.learns and options.rewind,
                promote=partial(learned.promote, options) if learned else None,
                usage=proposals.usage,
                vision=proposals.vision,
                rehearsing=rehearsing if kit.has_twin and options.rehearse != "never" else None,
            )


def _known(
    options: RunOptions, kit: Kit, folder: RunFolder, proposals: Proposals, readers: Readers
) -> tuple[Learned | None, TrustedDomains, str]:
    """Return what was learned before, the domains to start from, and the source of the initial skills.

    A proposer that does not learn needs no domains of other runs: each of its runs is a fresh one and
    repeatable.
    """
    builtin, fresh = library_source(kit.name, kit.builtin_skills), TrustedDomains(folder.path / "trusted")
    if not proposals.learns and options.skills not in ("trusted", "empty"):
        return None, fresh, builtin
    from spca.learned import BEFORE, Learned, folder_of

    known = "" if options.skills == "empty" else builtin
    learned = Learned(folder_of(options, folder), kit.name, known, kit.build, readers.plans)
    if not proposals.learns:
        return None, fresh, learned.skills.source()
    if not options.llm.startswith(REPLAY):
        learned.copy_to(folder.path / BEFORE)
    return learned, learned.domains, builtin if options.skills == "builtin" else learned.skills.source()
