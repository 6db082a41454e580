"""Planner and coder for MiniGrid levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from spca.budgets import Budgets
from spca_coder.drafting import DraftingCoder
from spca_core.errors import InputError
from spca_core.plan import DraftRecord, PlanRequest, PlanResult
from spca_core.ports.stages import Coder, Planner
from spca_gridworlds.minigrid.environment import MinigridEnvironment
from spca_gridworlds.minigrid.proposer import DOMAIN, MissionProposer
from spca_planner.planner import DraftingPlanner
from spca_planner.trusted import TrustedDomains


class _Untaught:
    """The builtin proposer's planner: it has one domain, so there is nothing to learn, and every run can be repeated."""

    def __init__(self, planner: DraftingPlanner) -> None:
        self._planner = planner

    def plan(
        self,
        request: PlanRequest,
        on_draft: Callable[[DraftRecord], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> PlanResult:
        return self._planner.plan(request, on_draft, cancelled)

    def learned(self, request: PlanRequest, result: PlanResult) -> None:
        pass


@contextmanager
def open_minigrid_stages(
    proposer: str = "builtin", budgets: Budgets | None = None
) -> Iterator[tuple[Planner, Coder]]:
    """Planner and coder, warm while the context lasts. Raises InputError for an unknown proposer."""
    if proposer != "builtin":
        raise InputError(f"unknown proposer '{proposer}'", where="--proposer", hint="builtin")
    budgets = budgets or Budgets()
    with TemporaryDirectory(prefix="spca_minigrid_") as folder:
        trusted = TrustedDomains(Path(folder))
        name = MinigridEnvironment.name
        with DraftingPlanner(
            name, MissionProposer(), trusted, None, budgets.drafts, domains=(DOMAIN,)
        ) as planner:
            yield _Untaught(planner), DraftingCoder(None, MinigridEnvironment.api, budgets.code_drafts)
