"""MiniGrid observed in full: the whole grid as entities, and a reward of 1 for success."""

from __future__ import annotations

from typing import Any

from spca_core.errors import InputError
from spca_minigrid.cells import DIRECTIONS
from spca_minigrid.world import GridWorld as Grid
from spca_programs.state import Entity, State, entity, state_of
from spca_worldcoder.worlds.world import Step

CURRICULUM = ("Empty-5x5", "DoorKey-5x5", "Unlock", "Fetch-6x6-N2", "UnlockPickup", "BlockedUnlockPickup")
"""The environments in their order: new objects, new goals, then both at once."""

ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
_COLOURLESS = ("wall", "lava")
_STATES = ("open", "closed", "locked")


class MinigridWorld:
    """One MiniGrid environment by its name without `MiniGrid-` and `-v0`."""

    actions: tuple[str, ...] = ACTIONS

    def __init__(self, name: str, grid: type[Grid] = Grid) -> None:
        self.name = name.removeprefix("MiniGrid-").removesuffix("-v0")
        self._grid_type = grid
        self._grid: Grid | None = None
        try:
            self._begin(0)
        except InputError as error:
            raise InputError(
                f"unknown MiniGrid environment '{name}'", hint=f"for example {', '.join(CURRICULUM)}"
            ) from error

    def _begin(self, seed: int) -> Grid:
        self._grid = self._grid_type(f"MiniGrid-{self.name}-v0", seed)
        return self._grid

    def reset(self, seed: int) -> tuple[State, str]:
        """A new episode."""
        grid = self._begin(seed)
        return observe(grid.env), grid.mission

    def step(self, action: str) -> Step:
        """Carry out an action."""
        if action not in ACTIONS:
            raise ValueError(f"no action '{action}'")
        assert self._grid is not None
        self._grid.step(ACTIONS.index(action))
        reward = 1.0 if self._grid.reward > 0 else 0.0
        return Step(observe(self._grid.env), reward, self._grid.terminated)


def observe(env: Any) -> State:
    """All objects of the grid and the agent."""
    found: list[Entity] = []
    for x in range(env.width):
        for y in range(env.height):
            thing = env.grid.get(x, y)
            if thing is not None:
                found.append(_thing(thing, x, y))
    held = None if env.carrying is None else _thing(env.carrying, None, None)
    x, y = (int(v) for v in env.agent_pos)
    found.append(entity("agent", x, y, direction=DIRECTIONS[int(env.agent_dir)], carrying=held))
    return state_of(found)


def _thing(thing: Any, x: int | None, y: int | None) -> Entity:
    if thing.type in _COLOURLESS:
        return entity(thing.type, x, y)
    if thing.type == "door":
        state = _STATES[0 if thing.is_open else 2 if thing.is_locked else 1]
        return entity("door", x, y, color=thing.color, state=state)
    return entity(thing.type, x, y, color=thing.color)
