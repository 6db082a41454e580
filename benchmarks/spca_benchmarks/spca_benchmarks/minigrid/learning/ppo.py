"""PPO of stable-baselines3 (Schulman et al. 2017), as a baseline; an optional extra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spca_core.errors import InputError

_STEPS = 10**9


def ppo(world: Any, seed: int, on_episode: Callable[[bool, int], bool]) -> None:
    """Learn until `on_episode` ends it.

    Args:
        world: A gymnasium environment with a flat observation, in which only success sums up above 0.
        seed: Of the learner.
        on_episode: Told whether an episode succeeded, and its number of actions; True ends it all.

    Raises InputError where stable-baselines3 is not installed.
    """
    try:
        import torch
        from stable_baselines3 import PPO
        from stable_baselines3.common.callbacks import BaseCallback
        from stable_baselines3.common.monitor import Monitor
    except ImportError as error:
        hint = "pip install stable-baselines3"
        raise InputError("the algorithm 'ppo' needs stable-baselines3", hint=hint) from error

    class _Episodes(BaseCallback):
        def _on_step(self) -> bool:
            ended = [info["episode"] for info in self.locals["infos"] if "episode" in info]
            return not any(on_episode(e["r"] > 0, int(e["l"])) for e in ended)

    torch.set_num_threads(1)  # the network is small, and other learners run beside this one
    model = PPO("MlpPolicy", Monitor(world), seed=seed, ent_coef=0.01, device="cpu")
    model.learn(_STEPS, callback=_Episodes())
