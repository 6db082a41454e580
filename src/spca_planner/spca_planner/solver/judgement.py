"""The requests to the solver process, and its answers."""

from __future__ import annotations

from typing import Literal

from spca_core.budgets import PATIENCE
from spca_core.model import Record
from spca_core.observation import Observation
from spca_core.plan import ActionSchema
from spca_core.ports.vocabulary import Extension, ObservableWord

Words = tuple[str, ...]
"""A step of a plan: the action's name and its arguments."""

MAX_BYTES = 1 << 24
"""Longest message between the process and its user."""
GRACE_SECONDS = 5.0
"""Processor time that a draft may take beyond the search's limit.

It is for reading, explaining and validating.
"""


class DraftContext(Record):
    """Context that a draft must fit: the scene, its PDDL predicates, and the objects that the task names."""

    observation: Observation
    extensions: dict[str, Extension]
    required: tuple[str, ...] = ()
    words: tuple[ObservableWord, ...] = ()


Greedy = Literal["relaxation", "counting"]
"""What guides a greedy search: plans without delete effects, or how many goals are met."""


class Case(Record):
    """Draft to be judged. `timeout_s` bounds translation and search, in seconds of processor time.

    Without a `context`, the draft is judged as a planning problem only.
    """

    domain: str
    problem: str
    timeout_s: float
    context: DraftContext | None = None
    greedy: Greedy | None = None
    """Take the first plan of a greedy search of Fast Downward; the caller has to check it."""

    @property
    def wall_s(self) -> float:
        """Seconds of wall time within which there is an answer, whatever else the machine does."""
        return PATIENCE * (self.timeout_s + GRACE_SECONDS)


class Judgement(Record):
    """A proven plan, or who refused and why. Seconds of wall time, one after the other.

    The search begins with the parsing; `solve_seconds` is what it took longer.
    """

    critic: Literal["", "parse", "scene", "goal", "solve", "validate"] = ""
    message: str = ""
    timed_out: bool = False
    steps: tuple[Words, ...] = ()
    schemas: tuple[ActionSchema, ...] = ()
    """Of the actions in `steps`."""
    parse_seconds: float = 0.0
    solve_seconds: float = 0.0
    validate_seconds: float = 0.0
