"""Suites of the bench: worlds in their order, settings of the agent, and how many seeds each is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spca_programs.factories import stand_in
from spca_worldcoder.worlds.minigrid import CURRICULUM, MinigridWorld
from spca_worldcoder.worlds.sokoban import Sokoban
from spca_worldcoder.worlds.world import World


@dataclass(frozen=True)
class Suite:
    """Worlds to learn one after the other; `make` takes the seed."""

    make: Callable[[int], list[World]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    every: int = 1
    """Only one of so many seeds."""


HALF, FEW = 2, 5
"""Variants and the curriculum take every second seed; ablations and baselines, which take long because they
fail, every fifth."""


def _sokoban(every: int = FEW, **settings: Any) -> Suite:
    return Suite(lambda seed: [Sokoban(2, 7)], {"curiosity": 20, **settings}, every)


def _unlock(**settings: Any) -> Suite:
    return Suite(lambda seed: [MinigridWorld("UnlockPickup")], settings, every=FEW)


def _curriculum(every: int = FEW, **settings: Any) -> Suite:
    return Suite(
        lambda seed: [MinigridWorld(name) for name in CURRICULUM], {"questions": 300, **settings}, every
    )


_LIMITS = {"episodes": 30, "actions": 1000}
"""Of ablations: they are not waited for any longer."""

_FIXED = {"first_data": 200, "episodes": 3, "actions": 201, "questions": 50, "optimism": False}
"""Fifty refinements on the same two hundred random actions (Fig. 4)."""

SUITES: dict[str, Suite] = {
    "sokoban": _sokoban(every=1),
    "sokoban, without optimism": _sokoban(optimism=False, **_LIMITS),
    "sokoban, value iteration": _sokoban(planner="value", **_LIMITS),
    "UnlockPickup": Suite(lambda seed: [MinigridWorld("UnlockPickup")]),
    "UnlockPickup, without optimism": _unlock(optimism=False, **_LIMITS),
    "sokoban, greedy refinement": _sokoban(strategy="greedy", **_LIMITS),
    "sokoban, 50 refinements": _sokoban(**_FIXED),
    "sokoban, 50 greedy refinements": _sokoban(strategy="greedy", **_FIXED),
    "UnlockPickup, greedy refinement": _unlock(strategy="greedy", **_LIMITS),
    "UnlockPickup, value iteration": _unlock(planner="value", **_LIMITS),
    "curriculum": _curriculum(every=HALF),
    "curriculum, without transfer": _curriculum(transfer=False, **_LIMITS),
    "curriculum, rewards guessed once": _curriculum(rewards="guessed", optimism=False, **_LIMITS),
}
"""Those of the paper, by name."""


def suites() -> dict[str, Suite]:
    """All by name: also those of variants of these worlds, which an extension brings."""
    return SUITES | stand_in("inductive").suites


SOLVING = ("sokoban", "sokoban, without optimism", "sokoban, greedy refinement", "sokoban, value iteration")
"""Whose programs are tried on test levels as they change (Fig. 5B)."""

REACT_EPISODES = 10
"""Of a model that is asked for every action."""
