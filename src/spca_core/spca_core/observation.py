"""What every environment reports to the planner: symbols, facts and sentences."""

from __future__ import annotations

from typing import Any

from spca_core.model import Record
from spca_core.scene import Fact


class Observation(Record):
    """An environment's state in words and symbols.

    `objects` maps each symbol to its kind; `facts` are the ground atoms that hold now; `sentences` say the
    same in plain words without numbers; `detail` is the environment's own full record, for reports, never for
    prompts.
    """

    stamp: float
    objects: dict[str, str]
    facts: tuple[Fact, ...]
    sentences: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Objects that are remembered but not in sight: the facts about them may be out of date."""
    detail: dict[str, Any] = {}

    def holds(self, predicate: str, *args: str) -> bool:
        """Whether a ground atom is among the facts."""
        return Fact(predicate=predicate, args=args) in self.facts
