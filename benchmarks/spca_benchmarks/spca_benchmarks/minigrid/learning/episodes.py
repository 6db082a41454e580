"""MiniGrid as episodes for learners by trial and error: they see the agent's 7×7 view and the mission."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spca_minigrid.world import make_env

OnEpisode = Callable[[bool, int], bool]
"""Called after each episode with whether it ended with a reward, and its number of actions; True ends all."""


class ViewEpisodes:
    """See `spca_bench.q_learning.Episodic`.

    A state is the view, the direction and the mission; `mazes` seeds are used in turn, 0 for a new maze in
    each episode.
    """

    actions: tuple[str, ...] = ("left", "right", "forward", "pickup", "drop", "toggle", "done")

    def __init__(self, env: str, mazes: int = 0) -> None:
        self._env, self._mazes, self._begun = make_env(env), mazes, 0

    @property
    def max_steps(self) -> int:
        """Actions after which an episode ends."""
        return int(self._env.max_steps)

    def reset(self, seed: int, /) -> tuple[bytes, str]:
        """A new episode: its first state and its mission."""
        self._begun += 1
        observed, _ = self._env.reset(seed=self._begun % self._mazes if self._mazes else seed)
        return _state(observed), str(observed["mission"])

    def step(self, action: str, /) -> tuple[bytes, float, bool]:
        """State, reward, and whether the episode has ended."""
        observed, reward, terminated, truncated, _ = self._env.step(self.actions.index(action))
        return _state(observed), float(reward), terminated or truncated


def _state(observed: dict[str, Any]) -> bytes:
    return bytes(observed["image"].tobytes()) + bytes([int(observed["direction"])])
