"""Port: who writes world models. Programs are proposals; critics judge them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spca_worldcoder.records import Experience, Program, Usage
from spca_worldcoder.state import State


class ModelSynthesizer(Protocol):
    """Writes programs with `transition(state, action)` and `reward(before, action, after, mission)`.

    All methods return source that nobody has judged yet. They raise ModelError (`spca_core.ports.proposer`)
    when a language model failed, BudgetExhausted when its limits are used up, Contradiction and NotLearnable
    (`records`) where the data cannot be explained.
    """

    name: str
    usage: Usage
    """What all programs so far have taken."""

    def first(self, experience: Experience) -> Program:
        """A program from scratch."""
        ...

    def refine(
        self, program: Program, experience: Experience, failing: Sequence[int], fitting: Sequence[int]
    ) -> Program:
        """A better program; `failing` and `fitting` index the transitions explained wrong and right."""
        ...

    def for_goal(self, program: Program, experience: Experience, start: State, mission: str) -> Program:
        """The program with a reward for a mission that was never won, in the manner of the missions known."""
        ...

    def for_plan(
        self, program: Program, experience: Experience, start: State, mission: str, attempt: int
    ) -> Program | None:
        """A bolder program that explains the data and might reach the mission's goal from `start`.

        `attempt` counts from 0; None when there is nothing more to try.
        """
        ...
