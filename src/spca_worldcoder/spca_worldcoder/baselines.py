"""What the agent is compared with: chance, and a table of values."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from spca_worldcoder.state import State
from spca_worldcoder.worlds.world import World


def random_returns(world: World, seed: int, episodes: int, steps: int = 100) -> tuple[float, int]:
    """Share of episodes that succeed by random actions, and how many actions that took."""
    rng = np.random.default_rng([seed, 1])
    solved = taken = 0
    for episode in range(episodes):
        world.reset(int(rng.integers(2**31)) + episode)
        for _ in range(steps):
            _, reward, done = world.step(world.actions[int(rng.integers(len(world.actions)))])
            taken += 1
            if done:
                solved += reward > 0
                break
    return solved / episodes, taken


def q_learning(world: World, seed: int, actions: int, steps: int = 100) -> tuple[float, int]:
    """Share of the last 20 episodes of tabular Q-learning that succeed, and the actions taken.

    Watkins' rule with learning rate 0.5, discount 0.95 and 10 % random actions; a state is a row of the
    table.
    """
    rng = np.random.default_rng([seed, 2])
    table: dict[State, np.ndarray] = defaultdict(lambda: np.zeros(len(world.actions)))
    outcomes: list[bool] = []
    taken = 0
    while taken < actions:
        state, _ = world.reset(int(rng.integers(2**31)))
        success = False
        for _ in range(steps):
            values = table[state]
            best = rng.choice(np.flatnonzero(values == values.max()))
            choice = int(rng.integers(len(values))) if rng.random() < 0.1 else int(best)
            after, reward, done = world.step(world.actions[choice])
            taken += 1
            future = 0.0 if done else float(table[after].max())
            values[choice] += 0.5 * (reward + 0.95 * future - values[choice])
            state = after
            if done:
                success = reward > 0
                break
        outcomes.append(success)
    return float(np.mean(outcomes[-20:])), taken
