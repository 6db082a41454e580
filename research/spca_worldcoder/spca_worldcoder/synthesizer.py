"""Port: who writes world models. Programs are proposals; critics judge them."""

from __future__ import annotations

from typing import Protocol

from spca_programs.experience import Experience, Program, Usage, Verdict
from spca_programs.state import State


class ModelSynthesizer(Protocol):
    """Writes programs with `transition(state, action)` and `reward(before, action, after, mission)`.

    All methods return source that nobody has judged yet. They raise ModelError (`spca_core.ports.proposer`)
    when a language model failed, BudgetExhausted when its limits are used up, Contradiction and NotLearnable
    (`records`) where the data cannot be explained.
    """

    name: str
    enumerates: bool
    """Whether `for_plan` counts through a fixed list of bolder programs, without a model's help.

    They are then asked for in any state without a plan, and followed but not adopted.
    """
    usage: Usage
    """What all programs so far have taken."""

    def first(self, experience: Experience) -> Program:
        """A program from scratch."""

    def refine(self, program: Program, experience: Experience, verdict: Verdict) -> Program:
        """A better program; `verdict` says which transitions this one explains wrong, and how."""

    def for_goal(self, program: Program, experience: Experience, start: State, mission: str) -> Program:
        """The program with a reward for a mission that was never won, in the manner of the missions known."""

    def for_plan(
        self, program: Program, experience: Experience, start: State, mission: str, attempt: int
    ) -> Program | None:
        """A bolder program that explains the data and might reach the mission's goal from `start`.

        `attempt` counts from 0; None when there is nothing more to try.
        """
