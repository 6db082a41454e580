"""The proposer `scribe`: the environment's own one, with a copy of each draft kept in the run's folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spca.proposals import Proposals
from spca_core.options import RunOptions
from spca_core.plan import Draft, PlanRequest, Rejection
from spca_core.ports.kit import Kit
from spca_core.ports.proposer import PlanProposer
from spca_core.run_folder import RunFolder


class Scribe(PlanProposer):
    """See `spca_core.ports.proposer.PlanProposer`."""

    name = "scribe"

    def __init__(self, author: PlanProposer, folder: RunFolder) -> None:
        self._author, self._folder = author, folder

    def draft(self, request: PlanRequest, previous: Draft | None, rejection: Rejection | None) -> Draft:
        """The author's draft, once it is written down."""
        draft = self._author.draft(request, previous, rejection)
        self._folder.write("scribe.pddl", draft.problem)
        return draft


@contextmanager
def open_scribe(kit: Kit, options: RunOptions, folder: RunFolder) -> Iterator[Proposals]:
    """What the entry point names; see `spca.proposals.OpenProposals`."""
    yield Proposals(Scribe(kit.builtin(), folder))
