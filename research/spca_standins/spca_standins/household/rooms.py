"""Rooms of a household, played by ALFWorld's rules and observed in full.

Nothing has a cell: things have a `name`, receptacles may be `open`, objects are `inside` a receptacle.
Actions name what they are done to (`take apple_1 fridge_1`), so a room's actions are not those of another.
A room has about 1,000 commands, so searches in a program are slow.
"""

from __future__ import annotations

from spca_core.errors import InputError, one_of
from spca_household.engine import Game
from spca_household.kinds import APPLIANCES, LAMP, OBJECTS, RECEPTACLES, draw_habits
from spca_household.room import TASKS, Room, draw_room, kind_of
from spca_programs.state import State, entity, state_of
from spca_worldcoder.options import WorldOptions
from spca_worldcoder.worlds.world import Step, World


class HouseholdWorld:
    """Rooms with one type of task."""

    def __init__(self, task: str) -> None:
        self.name = f"household-{task}"
        self._task = task
        self._habits = draw_habits(0)
        self._game = self._begin(0)

    @property
    def actions(self) -> tuple[str, ...]:
        """All commands of the present room, possible or not."""
        return commands_of(self._game.room)

    def _begin(self, seed: int) -> Game:
        return Game(draw_room(self._task, self._habits, seed))

    def reset(self, seed: int) -> tuple[State, str]:
        """A new room."""
        self._game = self._begin(seed)
        return observe(self._game), self._game.room.instruction

    def step(self, action: str) -> Step:
        """Carry out a command; one that is impossible changes nothing."""
        if action not in self.actions:
            raise ValueError(f"no action '{action}'")
        self._game.act(action)
        return Step(observe(self._game), 1.0 if self._game.won else 0.0, self._game.won)


def commands_of(room: Room) -> tuple[str, ...]:
    """Every command that the furniture and the objects of a room make sense for."""
    objects, receptacles = sorted(room.objects), sorted(room.receptacles)
    found = [f"{verb} {r}" for verb in ("goto", "open", "close") for r in receptacles]
    found += [f"{verb} {o} {r}" for verb in ("take", "put") for o in objects for r in receptacles]
    for verb, kind in APPLIANCES.items():
        found += [f"{verb} {o} {r}" for o in objects for r in receptacles if kind_of(r) == kind]
    return (*found, *(f"use {o}" for o in objects))


def observe(game: Game) -> State:
    """Furniture, objects and the agent; what an object is like is there only where it is true."""
    things = [entity("agent", at=game.where() or None, holding=game.held() or None)]
    for name in game.room.receptacles:
        door = {"open": game.is_open(name)} if RECEPTACLES[kind_of(name)].openable else {}
        things.append(entity(kind_of(name), name=name, **door))
    for name in game.room.objects:
        if kind_of(name) == LAMP:
            flags = ["toggleable", *(["on"] if game.is_lit(name) else [])]
        else:
            flags = [*(f"{t}able" for t in OBJECTS[kind_of(name)].treatments), *game.treated(name)]
        inside = game.place_of(name) or None
        things.append(entity(kind_of(name), name=name, inside=inside, **dict.fromkeys(flags, True)))
    return state_of(things)


def household(options: WorldOptions) -> list[World]:
    """A world for each type of task, or for some. InputError for an unknown one."""
    names = options.environments or TASKS
    if unknown := [name for name in names if name not in TASKS]:
        raise InputError(f"unknown task type '{unknown[0]}'", "household", one_of(unknown[0], TASKS))
    return [HouseholdWorld(name) for name in names]
