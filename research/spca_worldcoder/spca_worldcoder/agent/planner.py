"""Finds plans in a learned world model.

A plan counts only when the program itself agrees with its every step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from spca_programs.experience import Program
from spca_programs.state import State
from spca_worldcoder.sandbox import ModelRunner


class Plan(NamedTuple):
    """Actions, and the state that the program says each leads to."""

    actions: tuple[str, ...]
    states: tuple[State, ...]


Searcher = Callable[[Program, State, str, Sequence[str]], list[str] | None]
"""One way to search in a program, from a state, for a mission, with these actions (`ModelRunner.plan`, say).

Returns actions that may lead to an end that pays: an empty list where there are none, None where the search
has found nothing within its limits. Raises Cancelled.
"""


class ModelPlanner:
    """Tries one searcher after the other, the fastest first, and replays what they find."""

    def __init__(self, runner: ModelRunner, searchers: Sequence[Searcher]) -> None:
        self._runner, self._searchers = runner, searchers
        self.seconds = 0.0
        """Wall time spent in planning."""

    def plan(
        self, program: Program, state: State, mission: str, actions: Sequence[str], quick: bool = False
    ) -> Plan | None:
        """A plan to an end that pays, replayed step by step; None where none was found.

        With `quick` only the fastest searcher is asked. Raises Cancelled.
        """
        began = time.perf_counter()
        try:
            for searcher in self._searchers[: 1 if quick else None]:
                found = searcher(program, state, mission, actions)
                if found is None:
                    continue
                if not found:
                    return None
                states = self._runner.replay(program, state, mission, found)
                if states is not None:
                    return Plan(tuple(found), tuple(states))
            return None
        finally:
            self.seconds += time.perf_counter() - began
