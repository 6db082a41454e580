"""Port: a world that an agent can act in and observe in full."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from spca_programs.state import State


class Step(NamedTuple):
    """Result of one action."""

    state: State
    reward: float
    done: bool


class World(Protocol):
    """Deterministic and fully observed. Not for two episodes at a time."""

    name: str

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the present episode's actions; they need not say what the actions do."""

    def reset(self, seed: int) -> tuple[State, str]:
        """Begin an episode: its first state and its mission. Equal seeds give equal episodes."""

    def step(self, action: str) -> Step:
        """Carry out an action. ValueError for one that does not exist."""
