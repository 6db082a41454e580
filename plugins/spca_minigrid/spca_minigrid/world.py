"""One MiniGrid world, stepped by primitives; equal seeds and primitives give equal worlds."""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

import numpy as np

from spca_core.errors import InputError

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # MiniGrid imports pygame, which greets


class GridWorld:
    """A freshly reset environment."""

    def __init__(self, env_id: str, seed: int) -> None:
        env = make_env(env_id)
        # Some levels are drawn until they can be solved, and say so on the standard output.
        with contextlib.redirect_stdout(io.StringIO()):
            env.reset(seed=seed)
        self._begin(env)

    def _begin(self, env: Any) -> None:
        """Take over an environment that has been reset."""
        self.env = env
        self.mission: str = env.mission
        self.max_steps: int = env.max_steps
        self.primitives: list[int] = []
        self.reward = 0.0
        self.terminated = self.truncated = False

    @property
    def over(self) -> bool:
        """The episode has ended."""
        return self.terminated or self.truncated

    def look(self) -> tuple[np.ndarray, int]:
        """Return the agent's view (7, 7, 3) and the direction it faces."""
        # Not what `reset` returned: levels that begin with something in the hand change the world after that.
        observed = self.env.gen_obs()
        return observed["image"], int(observed["direction"])

    def step(self, primitive: int) -> tuple[np.ndarray, int]:
        """Carry out one primitive, look, and return what `look` does."""
        _, reward, self.terminated, self.truncated, _ = self.env.step(primitive)
        self.reward = float(reward)
        self.primitives.append(primitive)
        return self.look()


def make_env(env_id: str) -> Any:
    """Make a bare environment by its registered id. Raises InputError for an unknown one."""
    import gymnasium
    import minigrid  # noqa: F401  (registers its environments)

    try:
        return gymnasium.make(env_id, disable_env_checker=True).unwrapped
    except gymnasium.error.Error as error:
        raise InputError(f"unknown environment {env_id!r}", hint=str(error).splitlines()[0]) from error
