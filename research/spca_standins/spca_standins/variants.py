"""Worlds that differ from the known ones in names, actions or rules: they show what is learned.

A learner that carries rules of a world within itself fails here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from spca_programs.state import Entity, State, entity, state_of
from spca_worldcoder.bench.suites import HALF, Suite
from spca_worldcoder.worlds.minigrid import MinigridWorld
from spca_worldcoder.worlds.sokoban import Sokoban
from spca_worldcoder.worlds.world import Step, World

_SYLLABLES = ("ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "po", "ra", "su", "ti", "vo", "wa", "xe", "zu")


class Renamed:
    """A world in which every class, attribute, value, action and word of the mission has a nonsense name.

    The actions are permuted as well: their order says nothing.
    """

    def __init__(self, world: World, seed: int = 0) -> None:
        self._world, self._seed = world, seed
        self._names: dict[str, str] = {}
        self.name = f"{world.name}-renamed"
        mixed = [world.actions[i] for i in np.random.default_rng([seed, 99]).permutation(len(world.actions))]
        self._action = {self._nonsense(f"action {a}"): a for a in mixed}
        self.actions = tuple(self._action)

    def reset(self, seed: int) -> tuple[State, str]:
        """A new episode."""
        state, mission = self._world.reset(seed)
        return self._state(state), " ".join(self._nonsense(word) for word in mission.split())

    def step(self, action: str) -> Step:
        """Carry out an action. ValueError for one that does not exist."""
        if action not in self._action:
            raise ValueError(f"no action '{action}'")
        state, reward, done = self._world.step(self._action[action])
        return Step(self._state(state), reward, done)

    def _state(self, state: State) -> State:
        return state_of(self._entity(one) for one in state)

    def _entity(self, one: Entity) -> Entity:
        values: Mapping[str, Any] = {self._nonsense(f"the {n}"): self._value(v) for n, v in one.attributes}
        return entity(self._nonsense(one.kind), one.x, one.y, **values)

    def _value(self, value: Any) -> Any:
        if isinstance(value, Entity):
            return self._entity(value)
        return self._nonsense(value) if isinstance(value, str) else value

    def _nonsense(self, word: str) -> str:
        for attempt in range(100):
            if word in self._names:
                break
            rng = np.random.default_rng([self._seed, zlib.crc32(word.encode()), attempt])
            made = "".join(_SYLLABLES[i] for i in rng.integers(len(_SYLLABLES), size=4))
            if made not in self._names.values():
                self._names[word] = made
        return self._names[word]


def odd_locks(*, relock: bool = False, wrong_keys: bool = False) -> type[Any]:
    """A MiniGrid whose doors lock again when they are shut, or which only keys of another colour open.

    In the latter, all keys are given another colour.
    """
    from minigrid.core.constants import COLOR_NAMES
    from minigrid.core.world_object import Door, Key

    from spca_minigrid.world import GridWorld as Grid

    class OddLocks(Grid):
        """The world with other locks."""

        def __init__(self, env_id: str, seed: int) -> None:
            super().__init__(env_id, seed)
            for thing in self.env.grid.grid if wrong_keys else ():
                if isinstance(thing, Key):
                    thing.color = COLOR_NAMES[(COLOR_NAMES.index(thing.color) + 1 + seed % 3) % 6]

        def step(self, primitive: int) -> Any:
            door, key = self.env.grid.get(*self.env.front_pos), self.env.carrying
            if primitive == 5 and isinstance(door, Door):
                fits = isinstance(key, Key) and (key.color == door.color) != wrong_keys
                opens = not door.is_open and (fits or not door.is_locked)
                door.is_locked = relock if door.is_open else door.is_locked and not opens
                door.is_open = opens
                primitive = 6
            return super().step(primitive)

    return OddLocks


SUITES: dict[str, Suite] = {
    "sokoban renamed": Suite(lambda seed: [Renamed(Sokoban(2, 7), seed)], {"curiosity": 20}),
    "UnlockPickup renamed": Suite(lambda seed: [Renamed(MinigridWorld("UnlockPickup"), seed)]),
    "DoorKey, only wrong keys open": Suite(
        lambda seed: [MinigridWorld("DoorKey-5x5", odd_locks(wrong_keys=True))], every=HALF
    ),
    "DoorKey, doors lock again": Suite(
        lambda seed: [MinigridWorld("DoorKey-5x5", odd_locks(relock=True))], every=HALF
    ),
}
"""Of `spca bench worldcoder`, by name."""
