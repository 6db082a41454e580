"""Baselines of the agent: chance, a model asked at every step, and the true rules of Sokoban.

PPO is in `spca_benchmarks`.
"""

from __future__ import annotations

import re
from typing import Any

import gymnasium
import numpy as np

from spca_benchmarks.minigrid.learning.ppo import ppo
from spca_core.model import Record
from spca_core.ports.chat import ChatModel
from spca_core.ports.proposer import ModelError
from spca_programs.ipp.dialogue import Dialogue, render
from spca_worldcoder.induction.emit import emit
from spca_worldcoder.induction.goals import Ending, RewardRules
from spca_worldcoder.induction.rulebook import Clause, Group, Rulebook
from spca_worldcoder.induction.view import Frame
from spca_worldcoder.records import Program, Usage
from spca_worldcoder.state import State, in_words, name_of
from spca_worldcoder.worlds import sokoban
from spca_worldcoder.worlds.world import World

_ANSWER = re.compile(r"(?im)^[^\w\n]*action\W*:\W*(\w+(?:[ -]\w+)*)[^\w\n]*$")
_REMEMBERED = 12
"""Steps of an episode that the model is shown."""
_MOST_UNUSABLE = 3
"""Answers without an action that end an episode."""
_LAST = 20
_KINDS = ("wall", "box", "target", "player")


class Played(Record):
    """Episodes played by a baseline, and what its questions took."""

    success: float
    """Share of episodes that ended with a reward."""
    actions: int
    usage: Usage = Usage()


def random_actions(world: World, seed: int, episodes: int, steps: int = 100) -> Played:
    """Play by chance."""
    rng = np.random.default_rng([seed, 1])
    solved = taken = 0
    for _ in range(episodes):
        world.reset(int(rng.integers(2**31)))
        for _ in range(steps):
            _, reward, done = world.step(world.actions[int(rng.integers(len(world.actions)))])
            taken += 1
            if done:
                solved += reward > 0
                break
    return Played(success=solved / episodes, actions=taken)


def react(world: World, chat: ChatModel, seed: int, episodes: int, steps: int = 100) -> Played:
    """Ask a model for every single action (ReAct; Yao et al. 2023). It learns within an episode only.

    Raises BudgetExhausted.
    """
    rng = np.random.default_rng([seed, 3])
    solved = taken = 0
    usage = Usage()
    for _ in range(episodes):
        state, mission = world.reset(int(rng.integers(2**31)))
        history: list[str] = []
        unusable = 0
        while len(history) < steps and unusable < _MOST_UNUSABLE:
            dialogue = Dialogue(chat, render("spca_worldcoder.language", "react_system"))
            try:
                answer = dialogue.ask(
                    render(
                        "spca_worldcoder.language", "react", mission=mission, actions=world.actions,
                        history=history[-_REMEMBERED:], left_out=max(0, len(history) - _REMEMBERED),
                        state=[name_of(one) for one in state],
                    )
                )  # fmt: skip
            except ModelError:
                answer = ""
            usage = usage.and_of(dialogue)
            named = [name for name in _ANSWER.findall(answer) if name in world.actions]
            if not named:
                unusable += 1
                continue
            after, reward, done = world.step(named[-1])
            taken += 1
            history.append(f"{named[-1]}: {in_words(state, after)}; reward {reward:g}")
            state = after
            if done:
                solved += reward > 0
                break
    return Played(success=solved / episodes, actions=taken, usage=usage)


class Planes(gymnasium.Env[Any, int]):
    """Sokoban for `ppo`: which cells hold a wall, a box, a target, the player; a new level each episode."""

    def __init__(self, world: sokoban.Sokoban, seed: int, steps: int = 100) -> None:
        self._world, self._limit = world, steps
        self._rng, self._taken = np.random.default_rng([seed, 4]), 0
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (len(_KINDS) * world.size**2,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(world.actions))  # type: ignore[assignment]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """See `gymnasium.Env`."""
        self._taken = 0
        return self._planes(self._world.reset(int(self._rng.integers(2**31)))[0]), {}

    def step(self, action: int) -> Any:
        """See `gymnasium.Env`."""
        state, reward, done = self._world.step(self._world.actions[int(action)])
        self._taken += 1
        return self._planes(state), reward, done, self._taken >= self._limit, {}

    def _planes(self, state: State) -> np.ndarray:
        planes = np.zeros((len(_KINDS), self._world.size, self._world.size), np.float32)
        for one in state:
            planes[_KINDS.index(one.kind), one.y, one.x] = 1
        return planes.ravel()


def ppo_played(world: sokoban.Sokoban, seed: int, actions: int) -> Played:
    """Train PPO for so many actions, and return its success over the last 20 episodes."""
    outcomes: list[bool] = []
    taken = 0

    def on_episode(solved: bool, length: int) -> bool:
        nonlocal taken
        outcomes.append(solved)
        taken += length
        return taken >= actions

    ppo(Planes(world, seed), seed, on_episode)
    return Played(success=float(np.mean(outcomes[-_LAST:])), actions=taken)


def true_sokoban() -> Program:
    """Sokoban's rules as they are: with a planner, the most that learning can come to."""
    box, wall = ("kind", 1, "box"), ("kind", 1, "wall")
    clauses = (
        Clause(
            (("push", ("cell", 1, "box"), 1), ("step", 1)), ((("kind", 2, "box"),), (("kind", 2, "wall"),))
        ),
        Clause((("step", 1),), ((box,), (wall,))),
    )
    win = Ending((("all_on", "box", "target"),), (sokoban.MISSION,), 10.0)
    rules = Rulebook(
        Frame("player", moves=tuple(sorted(sokoban.MOVES.items()))),
        (Group(tuple(sokoban.MOVES), clauses),),
        RewardRules(-0.1, ((("on", "box", "target"), 1.0),), (win,)),
    )
    return Program(source=emit(rules), rules=rules.dump(), origin="the true rules")
