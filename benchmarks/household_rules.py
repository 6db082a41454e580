"""ALFWorld's rules written in Python: the world `household` without the optional engine, and much quicker.

Run it from the checkout to compare it with the engine, state by state, over random commands:

    .venv/bin/python benchmarks/household_rules.py --rooms 2 --steps 60

As a world for many trainings (the engine needs a quarter of a second for each new room):

    export PYTHONPATH=benchmarks
    .venv/bin/python -m spca bench copic household_rules:RulesWorld --task heat --seeds 3
"""

from __future__ import annotations

import argparse
import copy
import random

from spca_copic.worlds.household.world import HouseholdWorld
from spca_household.engine import Game
from spca_household.kinds import APPLIANCES, LAMP, OBJECTS, RECEPTACLES, draw_habits
from spca_household.room import TASKS, Room, draw_room, kind_of

STATES = {"clean": "clean", "heat": "hot", "cool": "cool"}
"""Treatment → what it makes of an object; hot and cool exclude each other."""
NAMES = {"goto": 1, "open": 1, "close": 1, "use": 1, "take": 2, "put": 2, "clean": 2, "heat": 2, "cool": 2}


class RulesGame(Game):
    """See `spca_household.engine.Game`; only what `HouseholdWorld` uses."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self._things = [name for name in room.objects if kind_of(name) == room.thing]
        self.restart()

    def restart(self) -> None:
        """Back to the beginning."""
        self.done, self._at, self._hand = (), "", ""
        self._places, self._opened = dict(self.room.objects), frozenset[str]()
        self._states: dict[str, frozenset[str]] = {}
        self._lit: frozenset[str] = frozenset()

    @property
    def won(self) -> bool:
        """Whether the goal holds."""
        room = self.room
        if room.task == "examine":
            lit = any(self._places[lamp] == self._at for lamp in self._lit)
            return bool(self._hand) and kind_of(self._hand) == room.thing and lit
        there = [
            place
            for name in self._things
            if (place := self._places[name]) and kind_of(place) == room.place
            and (room.task not in STATES or STATES[room.task] in self._states.get(name, ()))
        ]  # fmt: skip
        return any(there.count(place) >= (2 if room.task == "pick_two" else 1) for place in there)

    def act(self, command: str) -> bool:
        """Carry out a command; whether it was possible."""
        name, *arguments = command.split() or [""]
        possible = NAMES.get(name) == len(arguments) and (
            self._one(name, arguments[0]) if len(arguments) == 1 else self._two(name, *arguments)
        )
        self.done = (*self.done, command) if possible else self.done
        return possible

    def _one(self, name: str, argument: str) -> bool:
        if name == "goto":
            possible = argument in self.room.receptacles and argument != self._at
            self._at = argument if possible else self._at
        elif name == "use":
            here = bool(self._at) and self._places.get(argument) == self._at
            possible = here and kind_of(argument) == LAMP
            self._lit |= {argument} if possible else set()
        else:
            door = argument == self._at and argument != "" and RECEPTACLES[kind_of(argument)].openable
            possible = door and (argument in self._opened) == (name == "close")
            self._opened ^= {argument} if possible else set()
        return possible

    def _two(self, name: str, thing: str, receptacle: str) -> bool:
        if receptacle != self._at or not receptacle or thing not in self.room.objects:
            return False
        kind = kind_of(thing)
        if name == "take":
            possible = not self._hand and self._places[thing] == receptacle and self.is_open(receptacle)
            possible = possible and kind != LAMP
            if possible:
                self._hand, self._places[thing] = thing, ""
        elif name == "put":
            possible = self._hand == thing and self.is_open(receptacle)
            possible = possible and kind_of(receptacle) in OBJECTS[kind].places
            if possible:
                self._hand, self._places[thing] = "", receptacle
        else:
            fits = kind_of(receptacle) == APPLIANCES[name] and name in OBJECTS[kind].treatments
            possible = self._hand == thing and fits
            if possible:
                undone = {"heat": {"cool"}, "cool": {"hot"}}.get(name, set())
                self._states[thing] = self._states.get(thing, frozenset()) - undone | {STATES[name]}
        return possible

    def where(self) -> str:
        """The receptacle in front of the agent; empty at the beginning."""
        return self._at

    def held(self) -> str:
        """The object in hand; empty for none."""
        return self._hand

    def contents(self, receptacle: str) -> list[str]:
        """What lies in or on a receptacle, whether or not it can be seen, sorted."""
        return sorted(name for name, place in self._places.items() if place == receptacle)

    def is_open(self, receptacle: str) -> bool:
        """Return whether its contents can be seen: it is open or has no door."""
        return receptacle in self._opened or not RECEPTACLES[kind_of(receptacle)].openable

    def treated(self, name: str) -> list[str]:
        """What was done to an object: of `clean`, `hot` and `cool`."""
        return [state for state in STATES.values() if state in self._states.get(name, ())]


class RulesWorld(HouseholdWorld):
    """The same rooms, habits and rules."""

    game = RulesGame


def main() -> None:
    """Compare what is possible, and what it leads to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rooms", type=int, default=2, help="of each task type")
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    habits, rng = draw_habits(1), random.Random(0)
    for task in TASKS:
        for k in range(options.rooms):
            room = draw_room(task, habits, f"rules/{k}")
            engine, rules = Game(room), RulesGame(room)
            for _ in range(options.steps):
                compare(engine, rules)
                legal = sorted(engine.commands())
                others = [command for command in legal if not command.startswith("goto")]
                command = rng.choice(others if others and rng.random() < 0.7 else legal)
                assert engine.act(command) and rules.act(command), command
    print(f"{len(TASKS) * options.rooms * options.steps} states agree")


def compare(engine: Game, rules: RulesGame) -> None:
    """Raises AssertionError where they differ."""
    places, things = rules.room.receptacles, tuple(rules.room.objects)
    commands = [f"{name} {place}" for name in ("goto", "open", "close") for place in places]
    commands += [f"use {thing}" for thing in things]
    commands += [f"{n} {t} {p}" for n, count in NAMES.items() if count == 2 for t in things for p in places]
    possible = {command for command in commands if copied(rules).act(command)}
    assert possible == set(engine.commands()), possible ^ set(engine.commands())
    assert (engine.won, engine.where(), engine.held()) == (rules.won, rules.where(), rules.held())
    for place in places:
        assert engine.contents(place) == rules.contents(place)
        assert engine.is_open(place) == rules.is_open(place)
    assert [engine.treated(thing) for thing in things] == [rules.treated(thing) for thing in things]


def copied(rules: RulesGame) -> RulesGame:
    """So that a command can be tried."""
    other = copy.copy(rules)
    other._places, other._states = dict(rules._places), dict(rules._states)
    return other


if __name__ == "__main__":
    main()
