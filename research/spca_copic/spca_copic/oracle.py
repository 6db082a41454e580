"""An oracle that tries programs out in the world: an upper bound for choosing among a set of programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spca_copic.episode import Moment
from spca_copic.rollouts import Rollouts
from spca_programs.plan_world import Candidate, ChoiceContext


class OracleChoice:
    """Rolls out every program alone to the end from the present state, and takes the first step of the best.

    Policy improvement by rollouts (D. Bertsekas): never worse than the best single program, and better where
    programs are good at different stages.
    """

    name = "oracle"

    def __init__(self) -> None:
        self._rollouts = Rollouts()
        self._following, self._sure = "", False

    def choose(
        self, moment: Moment, context: ChoiceContext, candidates: Sequence[Candidate]
    ) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        if not moment.decisions:
            self._rollouts, self._following, self._sure = Rollouts(), "", False
        chosen = next((i for i, c in enumerate(candidates) if self._following in c.programs), None)
        value = 0.0
        if chosen is None or not self._sure:
            outcomes = {p.id: self._rollouts.outcome(moment, p.id) for p in moment.pool.programs}
            # The first program of those that do best: stable, so that the oracle does not waver between
            # equals.
            best = max(outcomes, key=lambda id_: outcomes[id_])
            success, value = outcomes[best]
            chosen = next((i for i, c in enumerate(candidates) if best in c.programs), 0)
            self._following, self._sure = best, success
        return chosen, np.eye(len(candidates))[chosen], value
