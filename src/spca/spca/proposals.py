"""The source of plans and skills in a run: the built-in proposers, a language model, or an installed plugin.

An entry of the group `spca.proposers` names an `OpenProposals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from spca_coder.drafting import TOKEN_BUDGET
from spca_core.options import RunOptions
from spca_core.plan import Mode
from spca_core.ports.chat import VisionModel
from spca_core.ports.kit import Kit
from spca_core.ports.proposer import CodeProposer, PlanProposer
from spca_core.result import Usage
from spca_core.run_folder import RunFolder
from spca_planner.solver.process import SolverProcess


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
