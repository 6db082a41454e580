"""Worlds that differ from the known ones in names, actions or rules: they show what is learned.

A learner that carries rules of a world within itself fails here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from spca_programs.state import Entity, State, entity, state_of
from spca_worldcoder.worlds.sokoban import Level, Sokoban
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


class Teleporting:
    """Sokoban with a pair of gates: a step onto one leads to the other. Boxes block them like walls."""

    actions = Sokoban.actions
    kind = "gate"

    def __init__(self, boxes: int = 1, size: int = 8) -> None:
        self._world = Sokoban(boxes, size)
        self.name = f"{self._world.name}-gates"
        self._gates: tuple[tuple[int, int], ...] = ()

    def reset(self, seed: int) -> tuple[State, str]:
        """A new level with two gates on free cells."""
        _, mission = self._world.reset(seed)
        level = self._world.level
        free = sorted(level.floor - level.boxes - level.targets - {level.player})
        chosen = np.random.default_rng([seed, 5]).permutation(len(free))[:2]
        self._gates = tuple(free[i] for i in chosen)
        return self._with_gates(level), mission

    def step(self, action: str) -> Step:
        """Move, push, or be carried off; what would push a box onto a gate does nothing."""
        before = self._world.level
        made = self._world.step(action)
        level = self._world.level
        if level.boxes & set(self._gates):
            self._world.begin(before)
            return Step(self._with_gates(before), -0.1, False)
        if level.player in self._gates and level.player != before.player:
            there = self._gates[1 - self._gates.index(level.player)]
            level = Level(level.size, level.floor, level.boxes, level.targets, there)
            self._world.begin(level)
        return Step(self._with_gates(level), made.reward, made.done)

    def _with_gates(self, level: Level) -> State:
        return state_of([*level.state, *(entity(self.kind, *cell) for cell in self._gates)])


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
            if wrong_keys:
                for thing in self.env.grid.grid:
                    if isinstance(thing, Key):
                        thing.color = COLOR_NAMES[(COLOR_NAMES.index(thing.color) + 1 + seed % 3) % 6]

        def step(self, primitive: int) -> Any:
            env = self.env
            ahead = env.grid.get(*env.front_pos)
            if primitive == 5 and isinstance(ahead, Door):
                self._toggle(env, ahead)
                primitive = 6
            return super().step(primitive)

        @staticmethod
        def _toggle(env: Any, door: Any) -> None:
            if door.is_open:
                door.is_open, door.is_locked = False, relock
            elif not door.is_locked:
                door.is_open = True
            elif isinstance(env.carrying, Key) and (env.carrying.color == door.color) != wrong_keys:
                door.is_open, door.is_locked = True, False

    return OddLocks
