"""Tabular Q-learning, as a baseline for small worlds of episodes (MiniGrid observed in full, Sokoban)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any, Protocol

import numpy as np

from spca_core.model import Record

_LAST = 20


class Episodic(Protocol):
    """A world of episodes whose states can be rows of a table."""

    @property
    def actions(self) -> tuple[str, ...]:
        """Their names."""
        ...

    def reset(self, seed: int, /) -> tuple[Hashable, str]:
        """Begin an episode: its first state and its mission."""
        ...

    def step(self, action: str, /) -> Any:
        """Carry out an action: (state, reward, whether the episode ends)."""
        ...


class QResult(Record):
    """What came of it; `success` is the share of the last 20 episodes that ended with a reward."""

    success: float
    actions: int
    episodes: int
    rows: int
    """(state, mission) pairs in the table."""


def q_learning(
    world: Episodic,
    seed: int,
    actions: int,
    steps: int = 100,
    rate: float = 0.5,
    discount: float = 0.95,
    chance: float = 0.1,
    on_episode: Callable[[bool, int], bool] = lambda solved, actions: False,
) -> QResult:
    """Learn for a number of actions (Watkins 1989), `chance` of them drawn at random.

    Every episode has a new seed, as it has for the learners that this is compared with; `steps` ends one.
    `on_episode` is told whether an episode ended with a reward, and its number of actions; True ends it all.
    """
    rng = np.random.default_rng([seed, 2])
    table: dict[Hashable, np.ndarray] = defaultdict(lambda: np.zeros(len(world.actions)))
    outcomes: list[bool] = []
    taken = 0
    while taken < actions:
        state, mission = world.reset(int(rng.integers(2**31)))
        reward, done, begun = 0.0, False, taken
        for _ in range(steps):
            values = table[state, mission]
            best = rng.choice(np.flatnonzero(values == values.max()))
            choice = int(rng.integers(len(values))) if rng.random() < chance else int(best)
            state, reward, done = world.step(world.actions[choice])
            future = 0.0 if done else float(table[state, mission].max())
            values[choice] += rate * (reward + discount * future - values[choice])
            taken += 1
            if done:
                break
        outcomes.append(done and reward > 0)
        if on_episode(outcomes[-1], taken - begun):
            break
    return QResult(
        success=float(np.mean(outcomes[-_LAST:])), actions=taken, episodes=len(outcomes), rows=len(table)
    )
