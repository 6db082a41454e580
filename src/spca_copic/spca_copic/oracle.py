"""An oracle that tries programs out in the world: an upper bound for choosing among a set of programs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from spca_copic.episode import MOST_DECISIONS, Moment
from spca_copic.pool import MEMORY
from spca_core.plan_world import Candidate, ChoiceContext

Outcome = tuple[bool, float]
"""Success, and the rewards still to come."""


class OracleChoice:
    """Rolls out every program alone to the end from the present state, and takes the first step of the best.

    Policy improvement by rollouts (D. Bertsekas): never worse than the best single program, and better where
    programs are good at different stages. Needs the world's `checkpoint`, so it is for measuring and for
    training only. Results are kept, as worlds are deterministic: one oracle for many sets of programs saves
    most of the work.
    """

    name = "oracle"

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Outcome] = {}
        self._following, self._sure = "", False
        self.rollouts = 0

    def choose(
        self, moment: Moment, context: ChoiceContext, candidates: Sequence[Candidate]
    ) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        if not moment.decisions:
            self._following, self._sure = "", False
        chosen = next((i for i, c in enumerate(candidates) if self._following in c.programs), None)
        value = 0.0
        if chosen is None or not self._sure:
            outcomes = {p.id: self._try(moment, p.id) for p in moment.pool.programs}
            # The first program of those that do best: stable, so that the oracle does not waver between
            # equals.
            best = max(outcomes, key=lambda id_: outcomes[id_])
            success, value = outcomes[best]
            chosen = next((i for i, c in enumerate(candidates) if best in c.programs), 0)
            self._following, self._sure = best, success
        return chosen, np.eye(len(candidates))[chosen], value

    def _try(self, moment: Moment, program: str) -> Outcome:
        """What comes of following one program from here to the end; the world is put back afterwards."""
        saved = moment.world.checkpoint()
        state = hashlib.sha256(saved + json.dumps(moment.memory[-MEMORY:]).encode()).hexdigest()
        if (state, program) not in self._known:
            self.rollouts += 1
            self._known[state, program] = self._roll_out(moment, program, saved)
        return self._known[state, program]

    @staticmethod
    def _roll_out(moment: Moment, program: str, saved: bytes) -> Outcome:
        trial = Moment(moment.world, moment.pool, moment.situation)
        trial.memory = list(moment.memory)
        total = 0.0
        try:
            for _ in range(MOST_DECISIONS):
                candidates, _problems = moment.pool.propose(trial.situation, trial.memory, only=(program,))
                if not candidates:
                    break
                transition = moment.world.step(candidates[0].plan)
                total += transition.reward
                if transition.done:
                    return transition.success, total
                trial.note(candidates[0].plan, transition)
            return False, total
        finally:
            moment.world.restore(saved)
