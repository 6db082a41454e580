"""Selection of the things that a description means: by where they are, how large, what they are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from spca_core.observation import Observation
from spca_core.ports.proposer import Impossible, NotUnderstood
from spca_sense.observation import colours_of, positions_of, sizes_of
from spca_tabletop.language.ledger import UsedWords
from spca_tabletop.language.phrases import NounPhrase, Where

CLEARLY_LARGER = 1.15
"""Ratio of two areas."""
_AXES = {"leftmost": (1, -1), "rightmost": (1, 1), "middle": (1, -1), "nearest": (0, 1), "farthest": (0, -1)}
DIRECTIONS = {"left_of": (1, 1), "right_of": (1, -1), "behind": (0, 1), "in_front_of": (0, -1)}
"""The axis of `world` and the sign that a side or a relation is about: left is +y, far is +x."""
_DISTANT = {"closest_to": 1, "farthest_from": -1}
"""The sign of the distance that makes one of several things the one that is meant."""
_CLEARLY = 0.01
"""Metres by which a thing must be farther left to be left of another, or nearer to be the nearest."""


class Selection:
    """Narrows candidates; `symbols_of` finds what another phrase means, which a description refers to."""

    def __init__(
        self, observation: Observation, symbols_of: Callable[[NounPhrase], list[str]], ledger: UsedWords
    ) -> None:
        self._scene, self._symbols_of, self._ledger = observation, symbols_of, ledger

    def narrowed(self, candidates: Sequence[str], thing: NounPhrase) -> list[str]:
        """Those of the candidates that the restrictions of a description leave."""
        self._ledger.use(thing, "unlike", "vacant", "without", "extent", "side")
        for where in thing.where:
            self._ledger.use(where)
        colours = colours_of(self._scene)
        found = [s for s in candidates if not thing.unlike or colours.get(s) != thing.unlike]
        if thing.vacant:
            found = [s for s in found if self._scene.holds("clear", s)]
        if thing.without:
            found = self._without(found, thing)
        for where in thing.where:
            if where.relation not in _DISTANT:
                found = [s for s in found if self._is_where(s, where) != where.negated]
        for where in thing.where:
            if where.relation in _DISTANT:
                found = self._at_distance(found, where, thing)
        if thing.extent:
            found = self._of_extent(found, thing)
        if thing.side:
            found = self._at_side(found, thing)
        return found

    def _without(self, candidates: list[str], thing: NounPhrase) -> list[str]:
        """As in "all cubes except the blue one"."""
        if not thing.plural and thing.quantifier not in ("all", "any", "each"):
            raise NotUnderstood(f"I do not know what '{thing.text}' leaves out; say which ones are meant.")
        left_out = {s for other in thing.without for s in self._symbols_of(other.of_kind(thing.kind))}
        if not left_out <= set(candidates):
            raise NotUnderstood(f"'{thing.without[0].text}' is none of those that '{thing.text}' means.")
        return [s for s in candidates if s not in left_out]

    def _at_distance(self, candidates: list[str], where: Where, thing: NounPhrase) -> list[str]:
        """The one that is closest to something, or farthest from it."""
        reference, places = self._symbols_of(where.thing), positions_of(self._scene)
        relation = where.relation.replace("_", " ")
        if len(reference) != 1 or where.negated or thing.plural:
            raise NotUnderstood(f"I can find the one thing that is {relation} one other only.")
        candidates = [s for s in candidates if s != reference[0]]
        if any(s not in places for s in (*candidates, *reference)):
            raise NotUnderstood(f"I do not know what is {relation} what here.")
        origin, sign = places[reference[0]][:2], _DISTANT[where.relation]
        distances = {s: sign * math.dist(places[s][:2], origin) for s in candidates}
        ranked = sorted(candidates, key=distances.__getitem__)
        if len(ranked) > 1 and distances[ranked[1]] - distances[ranked[0]] < _CLEARLY:
            raise NotUnderstood(f"Two are about as far from '{where.thing.text}'; name the colour.")
        return ranked[:1]

    def _of_extent(self, candidates: list[str], thing: NounPhrase) -> list[str]:
        """The largest, the smallest or the medium one, by the area that it covers."""
        sizes = sizes_of(self._scene)
        if thing.extent in ("larger", "smaller") or any(c not in sizes for c in candidates):
            raise NotUnderstood(f"I do not know which one '{thing.text}' is; name its colour.")
        ranked = sorted(candidates, key=lambda s: sizes[s][0] * sizes[s][1])
        areas = [sizes[s][0] * sizes[s][1] for s in ranked]
        ends = {"largest": areas[-2:], "smallest": areas[:2], "medium": areas}[thing.extent]
        if any(b < a * CLEARLY_LARGER for a, b in pairwise(ends)):
            raise NotUnderstood(f"'{thing.text}': some of them are of the same size; name the colour.")
        if thing.extent == "medium":
            return ranked[len(ranked) // 2 :][:1] if len(ranked) % 2 else []
        return ranked[-1:] if thing.extent == "largest" else ranked[:1]

    def _at_side(self, candidates: list[str], thing: NounPhrase) -> list[str]:
        """The one at that side: of several of a colour by where they are, else of all of the kind as seen."""
        places = positions_of(self._scene)
        narrowed = thing.is_described or thing.kind == "block"
        if not narrowed or len(candidates) < 2 or any(c not in places for c in candidates):
            return [s for s in candidates if self._scene.holds(thing.side, s)]
        axis, sign = _AXES[thing.side]
        ranked = sorted(candidates, key=lambda s: sign * places[s][axis])
        if thing.side == "middle":
            return ranked[len(ranked) // 2 :][:1] if len(ranked) % 2 else []
        return ranked[:1]

    def _is_where(self, symbol: str, where: Where) -> bool:
        try:
            names = self._symbols_of(where.thing)
        except Impossible:
            return False
        if where.relation in DIRECTIONS:
            places = positions_of(self._scene)
            if symbol not in places or any(n not in places for n in names):
                raise NotUnderstood(f"I do not know what is {where.relation.replace('_', ' ')} what here.")
            axis, sign = DIRECTIONS[where.relation]
            offsets = [sign * (places[symbol][axis] - places[n][axis]) for n in names if n != symbol]
            return bool(offsets) and all(offset > _CLEARLY for offset in offsets)
        every = all if where.thing.quantifier in ("all", "each") and names else any
        if where.relation == "under":
            return every(self._scene.holds("on", n, symbol) for n in names)
        if where.relation == "beside":
            near = (self._scene.holds("next_to", *p) for n in names for p in ((symbol, n), (n, symbol)))
            return any(near)
        return every(self._scene.holds("on", symbol, n) for n in names)
