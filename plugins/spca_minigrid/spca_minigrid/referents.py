"""Referents of a mission's words: the known things that they may mean."""

from __future__ import annotations

from spca_minigrid.cells import DIRECTIONS, PORTABLE
from spca_minigrid.mission import Mission, Noun
from spca_minigrid.worldmap import GONE, KnownThing, WorldMap


class Referents:
    """Resolves symbols: nouns of a mission, ids of things, and `<colour>_key` for any key of a colour."""

    def __init__(self, world: WorldMap, mission: Mission) -> None:
        self._map = world
        self.nouns = {noun.symbol: noun for noun in mission.nouns}

    def noun(self, symbol: str) -> Noun | None:
        """Return the noun that a symbol stands for; None for the id of a thing and for unknown symbols."""
        colour, _, kind = symbol.rpartition("_")
        if symbol in self.nouns:
            return self.nouns[symbol]
        return Noun(symbol=symbol, kind=kind, colour=colour) if kind == "key" and colour.isalpha() else None

    def known(self, symbol: str) -> bool:
        """Return whether a symbol means anything here."""
        return symbol in self._map.things or self.noun(symbol) is not None

    def find(self, symbol: str) -> list[KnownThing]:
        """Return the things that are known and meant, held ones included; none if nothing fits yet."""
        if symbol in self._map.things:
            thing = self._map.things[symbol]
            return [] if thing.place == GONE else [thing]
        noun = self.noun(symbol)
        if noun is None:
            return []
        if noun.given:
            return self.find(self._map.names[symbol]) if symbol in self._map.names else []
        return [t for t in self._map.things.values() if t.place != GONE and self._fits(t, noun)]

    def _fits(self, thing: KnownThing, noun: Noun) -> bool:
        if noun.kind != thing.kind and not (noun.kind == "something" and thing.kind in PORTABLE):
            return False
        if noun.colour not in ("", thing.colour):
            return False
        return not noun.place or self._placed(thing, noun.place)

    def _placed(self, thing: KnownThing, place: str) -> bool:
        """Return whether a thing lay on that side of the first pose, in the starting room: BabyAI's rule."""
        x, y = thing.first_place
        dx, dy = DIRECTIONS[self._map.start_direction]
        forward, right = x * dx + y * dy, -x * dy + y * dx
        fits = {"front": forward > 0, "behind": forward < 0, "right": right > 0, "left": right < 0}[place]
        return fits and thing.first_place in self._map.start_room()
