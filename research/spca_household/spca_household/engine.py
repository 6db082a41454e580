"""ALFWorld's rules: what its PDDL domain lets one do in a room, and what comes of it.

Written in Python, so that nothing else has to be installed. Over 720 states of rooms of all task types they
allowed and did the same as ALFWorld's own engine (`alfworld` 0.4.2).
"""

from __future__ import annotations

from spca_household.kinds import APPLIANCES, LAMP, OBJECTS, RECEPTACLES
from spca_household.room import Room, kind_of

STATES = {"clean": "clean", "heat": "hot", "cool": "cool"}
"""Treatment → what it makes of an object; hot and cool exclude each other."""
_UNDOES = {"heat": "cool", "cool": "hot"}
_ALONE = ("goto", "open", "close", "use")
"""Commands of one argument; all others have two."""


class Game:
    """One room being played.

    Commands are `goto R`, `open R`, `close R`, `take O R`, `put O R`, `clean O R`, `heat O R`, `cool O R` and
    `use O`, where R is a receptacle and O an object.
    """

    def __init__(self, room: Room) -> None:
        self.room = room
        self._at = self._hand = ""
        self._places = dict(room.objects)
        self._opened, self._lit = set[str](), set[str]()
        self._states: dict[str, frozenset[str]] = {}

    @property
    def won(self) -> bool:
        """True if the goal holds."""
        room = self.room
        if room.task == "examine":
            lit = any(self._places[lamp] == self._at for lamp in self._lit)
            return bool(self._hand) and kind_of(self._hand) == room.thing and lit
        there = [
            place
            for name, place in self._places.items()
            if kind_of(name) == room.thing and place and kind_of(place) == room.place
            and (room.task not in STATES or STATES[room.task] in self.treated(name))
        ]  # fmt: skip
        return any(there.count(place) >= (2 if room.task == "pick_two" else 1) for place in there)

    def act(self, command: str) -> bool:
        """Carry out a command; whether it was possible."""
        name, *arguments = command.split() or [""]
        if len(arguments) != (1 if name in _ALONE else 2):
            return False
        return self._one(name, arguments[0]) if name in _ALONE else self._two(name, *arguments)

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
            there = self._places[thing] == receptacle and self.is_open(receptacle)
            if possible := there and not self._hand and kind != LAMP:
                self._hand, self._places[thing] = thing, ""
        elif name == "put":
            fits = kind != LAMP and kind_of(receptacle) in OBJECTS[kind].places
            if possible := self._hand == thing and self.is_open(receptacle) and fits:
                self._hand, self._places[thing] = "", receptacle
        else:
            fits = (
                kind_of(receptacle) == APPLIANCES[name] and kind != LAMP and name in OBJECTS[kind].treatments
            )
            if possible := self._hand == thing and fits:
                before = self._states.get(thing, frozenset()) - {_UNDOES.get(name, "")}
                self._states[thing] = before | {STATES[name]}
        return possible

    def where(self) -> str:
        """The receptacle in front of the agent; empty at the beginning."""
        return self._at

    def held(self) -> str:
        """The object in hand; empty for none."""
        return self._hand

    def place_of(self, thing: str) -> str:
        """The receptacle in or on which an object lies; empty for the one in hand."""
        return self._places[thing]

    def contents(self, receptacle: str) -> list[str]:
        """Return the objects in or on a receptacle, whether or not they can be seen, sorted."""
        return sorted(name for name, place in self._places.items() if place == receptacle)

    def is_open(self, receptacle: str) -> bool:
        """Return whether its contents can be seen: it is open or has no door."""
        return receptacle in self._opened or not RECEPTACLES[kind_of(receptacle)].openable

    def is_lit(self, lamp: str) -> bool:
        """Return whether a lamp was switched on."""
        return lamp in self._lit

    def treated(self, name: str) -> list[str]:
        """Return the treatments that an object has had, of `clean`, `hot` and `cool`."""
        return [state for state in STATES.values() if state in self._states.get(name, ())]
