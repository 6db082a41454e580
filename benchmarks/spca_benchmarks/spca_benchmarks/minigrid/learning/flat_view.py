"""MiniGrid as a vector of numbers, for PPO."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

_KINDS, _COLOURS, _STATES, _DIRECTIONS = 11, 6, 3, 4
_WORDS = 64


class FlatView(gymnasium.ObservationWrapper[Any, Any, Any]):
    """The view as one-hot features, with the direction and the mission's words (hashed to 64 places).

    `mazes` seeds are used in turn, 0 for a new maze in each episode.
    """

    def __init__(self, env: Any, mazes: int = 0) -> None:
        super().__init__(env)
        self._mazes, self._begun = mazes, 0
        cells = int(np.prod(env.observation_space["image"].shape[:2]))
        size = cells * (_KINDS + _COLOURS + _STATES) + _DIRECTIONS + _WORDS
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """A new episode."""
        self._begun += 1
        return super().reset(seed=self._begun % self._mazes if self._mazes else seed, options=options)

    def observation(self, observation: Any) -> NDArray[np.float32]:
        """The features of an observation."""
        kinds, colours, states = np.moveaxis(observation["image"], -1, 0).reshape(3, -1)
        words = np.zeros(_WORDS, np.float32)
        words[[sum(word.encode()) % _WORDS for word in str(observation["mission"]).split()]] = 1
        parts = (np.eye(_KINDS)[kinds], np.eye(_COLOURS)[colours], np.eye(_STATES)[states])
        direction = np.eye(_DIRECTIONS)[int(observation["direction"])]
        return np.concatenate([*(p.ravel() for p in parts), direction, words]).astype(np.float32)
