"""The interface of a family of instances for which programs can be written, run and judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from spca_core.model import Record


class Answer(Record):
    """Answer of a program or a model to one case.

    `problem` (kind and words, perhaps a line) is set where there is no plan.
    """

    plan: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0


class Judgement(Record):
    """The outcome of a list of actions in one instance.

    `trace` describes it action by action, for a programmer to read.
    """

    score: float
    completed: bool
    trace: tuple[str, ...] = ()


Case = TypeVar("Case")


class Domain(Protocol[Case]):
    """One task with many instances (cases).

    Texts are for prompts; a program never sees more than `arguments`.
    """

    name: str
    signature: str
    """The head of the program's function, for example `solve(grid, start_pos)`."""
    actions: tuple[str, ...]
    """The names a plan may use."""
    baselines: tuple[str, ...]
    """Policies that come with the task and need neither a program nor a model."""
    briefing: str
    """The rules, what the parameters hold, and how a plan is scored."""
    sketch: str
    """Pseudocode of a simple program to begin with."""
    midpoint: str
    """The part of a plan that is asked for first where it is asked for in two steps."""
    has_goal: bool
    """Whether a case is completed or not; if not, its score is all that can be said."""
    stages: tuple[str, ...]
    """The task in steps of growing difficulty; the last one is the whole task."""

    def split(self, train: int, test: int, seed: int) -> tuple[list[Case], list[Case]]:
        """Cases to improve programs on, and cases to judge them by in the end; no world is in both."""

    def name_of(self, case: Case) -> str:
        """A case's name, for tables and files."""

    def arguments(self, case: Case) -> list[Any]:
        """Return the arguments that `solve` is called with: plain JSON values."""

    def show(self, case: Case) -> str:
        """The case in words and as a picture, for prompts."""

    def judge(self, case: Case, plan: Sequence[str]) -> Judgement:
        """Carry the plan out by the real rules. Never raises for a bad plan."""

    def after(self, case: Case, plan: Sequence[str]) -> str:
        """The state that the actions lead to, in the form of `show`."""

    def reference(self, case: Case) -> float:
        """A score worth comparing with: the best there is, or the best that is known."""

    def baseline(self, name: str, cases: Sequence[Case], seed: int) -> list[Answer]:
        """Return the answers of one of `baselines`."""
