"""Ways to choose among candidates: a selector, chance, one program, and an oracle that tries them out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spca_copic.episode import Moment
from spca_programs.plan_world import Candidate, ChoiceContext
from spca_programs.ports.selector import Selector


class SelectorChoice:
    """Follows a selector: samples with a generator (training), takes the best without one (test)."""

    def __init__(self, selector: Selector, rng: np.random.Generator | None = None) -> None:
        self.name = f"selector ({selector.name})"
        self._selector, self._rng = selector, rng

    def choose(
        self, moment: Moment, context: ChoiceContext, candidates: Sequence[Candidate]
    ) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        probabilities, value = self._selector.score(context, candidates)
        if self._rng is None:
            return _best(probabilities, context, candidates), probabilities, value
        return int(self._rng.choice(len(candidates), p=probabilities)), probabilities, value


def _best(probabilities: np.ndarray, context: ChoiceContext, candidates: Sequence[Candidate]) -> int:
    """The most likely candidate; but a plan that has just failed is not repeated while there is another.

    Without chance, a selector that is wrong once would stay wrong to the end of the episode.
    """
    order = [int(i) for i in np.argsort(-probabilities, kind="stable")]
    others = [i for i in order if candidates[i].plan != context.last_plan]
    return (others if context.last_failure and others else order)[0]


class RandomChoice:
    """Any candidate, equally likely."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def choose(
        self, moment: Moment, context: ChoiceContext, candidates: Sequence[Candidate]
    ) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        probabilities = np.full(len(candidates), 1 / len(candidates))
        return int(self._rng.integers(len(candidates))), probabilities, 0.0


class ProgramChoice:
    """Always what one program proposes; where it proposes nothing, the first that there is."""

    def __init__(self, program: str) -> None:
        self.name = f"program {program}"
        self._program = program

    def choose(
        self, moment: Moment, context: ChoiceContext, candidates: Sequence[Candidate]
    ) -> tuple[int, np.ndarray, float]:
        """See `Choice.choose`."""
        chosen = next((i for i, c in enumerate(candidates) if self._program in c.programs), 0)
        return chosen, np.eye(len(candidates))[chosen], 0.0
