"""Baselines of the agent: chance, and a model asked at every step.

PPO is in `spca_benchmarks`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy

import numpy as np

from spca_benchmarks.minigrid.learning.ppo import Learner, Observed, Settings
from spca_core.model import Record
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_programs.experience import Usage
from spca_programs.ipp.dialogue import Dialogue, render
from spca_programs.state import State, in_words, name_of
from spca_worldcoder.worlds import sokoban
from spca_worldcoder.worlds.world import World

_ANSWER = re.compile(r"(?im)^[^\w\n]*action\W*:\W*(\w+(?:[ -]\w+)*)[^\w\n]*$")
_REMEMBERED = 12
"""Steps of an episode that the model is shown."""
_MOST_UNUSABLE = 3
"""Answers without an action, in a row, that end an episode."""
_LAST = 20
_KINDS = ("wall", "box", "target", "player")
_NO_WORDS = np.zeros(1, np.uint8)
_HORIZON = 50
PPO = Settings(
    worlds=256, steps=2048, recurrence=1, batch=2048, epochs=10, rate=3e-4, trace=0.95, entropy=0.0, scale=1.0
)
"""As published for Sokoban."""


class Played(Record):
    """Episodes played by a baseline, and what its questions took."""

    success: float
    """Share of episodes that ended with a reward."""
    actions: int
    usage: Usage = Usage()


def random_actions(world: World, seed: int, episodes: int, steps: int = 100) -> Played:
    """Play by chance."""
    rng = np.random.default_rng([seed, 1])

    def act(*_: object) -> str:
        return world.actions[int(rng.integers(len(world.actions)))]

    return _played(world, rng, episodes, steps, act)


def react(world: World, chat: ChatModel, seed: int, episodes: int, steps: int = 100) -> Played:
    """Ask a model for every single action (ReAct; Yao et al. 2023). It learns within an episode only.

    Raises BudgetExhausted.
    """
    usage = Usage()

    def act(state: State, mission: str, history: list[str]) -> str | None:
        nonlocal usage
        question = render(
            "spca_worldcoder.language", "react", mission=mission, actions=world.actions,
            history=history[-_REMEMBERED:], left_out=max(0, len(history) - _REMEMBERED),
            state=[name_of(one) for one in state],
        )  # fmt: skip
        for _ in range(_MOST_UNUSABLE):
            dialogue, answer = Dialogue(chat, render("spca_worldcoder.language", "react_system")), ""
            with suppress(ModelError):
                answer = dialogue.ask(question)
            usage = usage.and_of(dialogue)
            if named := [name for name in _ANSWER.findall(answer) if name in world.actions]:
                return str(named[-1])
        return None

    played = _played(world, np.random.default_rng([seed, 3]), episodes, steps, act)
    return played.model_copy(update={"usage": usage})


def _played(
    world: World, rng: np.random.Generator, episodes: int, steps: int,
    act: Callable[[State, str, list[str]], str | None],
) -> Played:  # fmt: skip
    """Play by what `act` says of state, mission and what was done; None ends an episode."""
    solved = taken = 0
    for _ in range(episodes):
        state, mission = world.reset(int(rng.integers(2**31)))
        history: list[str] = []
        while len(history) < steps and (action := act(state, mission, history)) is not None:
            after, reward, done = world.step(action)
            history.append(f"{action}: {in_words(state, after)}; reward {reward:g}")
            state = after
            if done:
                solved += reward > 0
                break
        taken += len(history)
    return Played(success=solved / episodes, actions=taken)


class Planes:
    """Sokoban as `Learnable`: which cells hold a wall, a box, a target, the player."""

    def __init__(self, world: sokoban.Sokoban, steps: int = _HORIZON) -> None:
        self._world, self._limit, self._taken = world, steps, 0
        self.actions: Sequence[str] = world.actions

    def begin(self, seed: int, /) -> Observed:
        """See `Learnable`."""
        self._taken = 0
        return self._planes(self._world.reset(seed)[0])

    def act(self, action: int, /) -> tuple[Observed, float, bool, bool]:
        """See `Learnable`."""
        state, reward, done = self._world.step(self.actions[action])
        self._taken += 1
        over = done or self._taken >= self._limit
        return self._planes(state), reward, over, done and reward > 0

    def _planes(self, state: State) -> Observed:
        planes = np.zeros((len(_KINDS), self._world.size, self._world.size), np.uint8)
        for one in state:
            planes[_KINDS.index(one.kind), one.y, one.x] = 1
        return Observed(planes, _NO_WORDS)


def ppo_played(world: sokoban.Sokoban, seed: int, actions: int, settings: Settings = PPO) -> Played:
    """Train PPO for so many actions, to a whole update, and return its success over the last 20 episodes.

    Raises InputError where torch is not installed.
    """
    outcomes: list[bool] = []
    worlds = [Planes(copy(world)) for _ in range(settings.worlds)]
    learner, taken = Learner(worlds, seed, settings), 0
    while taken < actions:
        outcomes += learner.learn()
        taken += len(worlds) * settings.steps
    return Played(success=float(np.mean(outcomes[-_LAST:])), actions=taken)
