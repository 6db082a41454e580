"""Finds plans in a learned world model.

A plan counts only when the program itself agrees with its every step.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from spca_worldcoder.records import Program
from spca_worldcoder.sandbox import Method, ModelRunner
from spca_worldcoder.state import State


class Plan(NamedTuple):
    """Actions, and the state that the program says each leads to."""

    actions: tuple[str, ...]
    states: tuple[State, ...]


class Found(Enum):
    """Why a search has no plan."""

    NOT_ASKED = "this searcher cannot search in such a program"
    NOTHING = "nothing was found within its limits"
    NO_PLAN = "there is none"


Answer = list[str] | Found


class Searcher(Protocol):
    """One way to search."""

    def search(self, program: Program, state: State, mission: str, actions: Sequence[str]) -> Answer:
        """Actions that may lead to an end that pays, or why there are none. Raises Cancelled."""
        ...


class SandboxSearch:
    """A search inside the sandbox, for any program; `budget` counts calls of the program."""

    def __init__(self, runner: ModelRunner, method: Method, budget: int) -> None:
        self._runner, self._method, self._budget = runner, method, budget

    def search(self, program: Program, state: State, mission: str, actions: Sequence[str]) -> Answer:
        """Actions to an end that pays."""
        found = self._runner.plan(program, state, mission, actions, self._budget, self._method)
        return Found.NOTHING if found is None else found


class ModelPlanner:
    """Tries one searcher after the other, the fastest first, and replays what they find."""

    def __init__(self, runner: ModelRunner, searchers: Sequence[Searcher]) -> None:
        self._runner, self._searchers = runner, searchers
        self.seconds = 0.0
        """Wall time spent in planning."""
        self.searches = 0

    def plan(
        self, program: Program, state: State, mission: str, actions: Sequence[str], quick: bool = False
    ) -> Plan | None:
        """A plan to an end that pays, replayed step by step; None where none was found.

        With `quick` only the fastest searcher is asked. Raises Cancelled.
        """
        began = time.perf_counter()
        self.searches += 1
        try:
            for searcher in self._searchers[: 1 if quick else None]:
                found = searcher.search(program, state, mission, actions)
                if found is Found.NO_PLAN:
                    return None
                if isinstance(found, Found):
                    continue
                states = self._runner.replay(program, state, mission, found)
                if states is not None:
                    return Plan(tuple(found), tuple(states))
            return None
        finally:
            self.seconds += time.perf_counter() - began
