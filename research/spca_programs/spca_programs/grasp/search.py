"""The best plan for a GRASP environment.

Energy is worth something at home only, so a plan is a set of round trips. Without a carry limit one trip is
always enough: `best_tour`. With a limit, trips that fetch at most that much are packed into the actions there
are: `best_trips`. (That energy is never put down anywhere but at home is
part of this model of the problem; the tests hold it against an exhaustive search over all action sequences of
a few actions.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spca_programs.grasp.grid import Cell, Grid
from spca_programs.grasp.rules import DROP, MOVES, TAKE, Rules

_BEAM = 100
_EPSILON = 1e-9

Trip = tuple[int, ...]
"""The numbers of the stops where energy is taken, in order; from home and back to it."""
FAR = 99


@dataclass(frozen=True)
class Solution:
    """A plan, and its score: no plan can score more."""

    plan: tuple[str, ...]
    score: float


def solve(grid: Grid, rules: Rules) -> Solution:
    """The best plan; a narrow search for the tour gives the whole one a bound to begin with."""
    ways = routes(grid, rules)
    if rules.carry_limit is not None:
        trips = best_trips(ways, rules.carry_limit)
    else:
        value, tour, complete = best_tour(ways, _BEAM, 0.0)
        if not complete:
            tour = best_tour(ways, None, value)[1] or tour
        trips = [tour] if tour else []
    plan = [action for trip in trips for action in _actions(ways, trip)]
    return Solution(plan=tuple(plan), score=sum(len(trip) for trip in trips) - rules.cost * len(plan))


def _actions(ways: Routes, trip: Trip) -> list[str]:
    stops = [0, *trip]
    there = [a for i, j in zip(stops, trip, strict=False) for a in (*ways.way(i, j), TAKE)]
    return [*there, *ways.way(stops[-1], 0), DROP]


def best_tour(ways: Routes, width: int | None, at_least: float) -> tuple[float, Trip, bool]:
    """The round trip of the highest value, if that exceeds `at_least`.

    Returns its value, its stops, and whether the search was complete.

    Grows tours by one energy at a time; of those with equal sets and equal ends only the shortest goes on,
    and only if it can still beat the best so far. A tour never passes over energy on its way to some other:
    taking that instead of the last one costs no more.
    """
    rules = ways.rules
    home = ways.distance[0]
    nearest_first = [sorted(range(1, len(home)), key=row.__getitem__) for row in ways.distance]
    best: Trip = ()
    value, complete, taken = at_least, True, 0

    @cache
    def promise(taken: int, moved: int, from_home: int) -> float:
        """An upper bound on the value of any tour with this beginning.

        It assumes that further energy lies one move apart, on the way home.
        """
        most = -math.inf
        for more in range(rules.max_actions):
            moves = moved + (from_home if more == 0 else max(from_home, more + 1))
            if not rules.diagonals and moves % 2:
                moves += 1  # without diagonals a round trip has an even number of moves
            actions = moves + taken + more + 1
            if actions <= rules.max_actions:
                most = max(most, taken + more - rules.cost * actions)
        return most

    # By the set of stops, as bits, and the last one: the moves so far and the tour.
    tours: dict[tuple[int, int], tuple[int, Trip]] = {(1, 0): (0, ())}
    while tours:
        taken += 1
        grown: dict[tuple[int, int], tuple[int, Trip]] = {}
        for (visited, last), (moved, tour) in tours.items():
            distance, passed = ways.distance[last], ways.passed[last]
            room = rules.max_actions - taken - 1 - moved
            for stop in nearest_first[last]:
                step = distance[stop]
                if step + 1 > room:
                    break
                if visited >> stop & 1 or step + home[stop] > room or passed[stop] & ~visited:
                    continue
                length = moved + step
                if promise(taken, length, home[stop]) <= value + _EPSILON:
                    continue
                key = (visited | 1 << stop, stop)
                if key not in grown or grown[key][0] > length:
                    grown[key] = (length, (*tour, stop))
                    if (worth := taken - rules.cost * (taken + length + home[stop] + 1)) > value + _EPSILON:
                        value, best = worth, (*tour, stop)
        if width is not None and len(grown) > width:
            complete = False
            # Not quite the whole way home: it will partly be spent on taking more.
            ranked = sorted(grown.items(), key=lambda item: item[1][0] + 0.9 * home[item[0][1]])
            grown = dict(ranked[:width])
        tours = grown
    return value, best, complete


@dataclass(frozen=True)
class _Candidate:
    stops: Trip
    visited: int
    actions: int


def best_trips(ways: Routes, carry_limit: int) -> list[Trip]:
    """The set of disjoint round trips, of at most `carry_limit` energies each, of the most value."""
    rules = ways.rules
    trips = [t for t in _trips(ways, carry_limit) if len(t.stops) > rules.cost * t.actions]
    trips.sort(key=lambda t: (-len(t.stops), t.actions))
    cheapest = {
        units: min(t.actions for t in trips if len(t.stops) == units)
        for units in {len(t.stops) for t in trips}
    }
    best_value, best = 0.0, list[Trip]()

    @cache
    def promise(units: int, actions: int, room: int) -> float:
        """The most value of `room` actions by trips of the given kind or of fewer units."""
        kinds = {**{u: a for u, a in cheapest.items() if u < units}, units: actions}
        values = [0.0] * (room + 1)
        for available in range(room + 1):
            for kind, needed in kinds.items():
                if needed <= available:
                    gain = kind - rules.cost * needed
                    values[available] = max(values[available], values[available - needed] + gain)
        return values[room]

    def extend(first: int, visited: int, room: int, value: float, chosen: list[Trip]) -> None:
        nonlocal best_value, best
        if value > best_value + _EPSILON:
            best_value, best = value, list(chosen)
        for number in range(first, len(trips)):
            trip = trips[number]
            if value + promise(len(trip.stops), trip.actions, room) <= best_value + _EPSILON:
                # Of this number of energies the others cost at least as much; those with fewer were counted
                # too.
                return
            if trip.actions <= room and not visited & trip.visited:
                gain = len(trip.stops) - rules.cost * trip.actions
                chosen.append(trip.stops)
                extend(number + 1, visited | trip.visited, room - trip.actions, value + gain, chosen)
                chosen.pop()

    extend(0, 0, rules.max_actions, 0.0, [])
    return best


def _trips(ways: Routes, carry_limit: int) -> list[_Candidate]:
    """For every set of at most `carry_limit` stops, the shortest round trip that the actions allow."""
    home = ways.distance[0]
    found: dict[int, _Candidate] = {}
    growing: list[tuple[Trip, int, int]] = [((), 0, 0)]
    for taken in range(1, carry_limit + 1):
        grown = []
        for stops, visited, moved in growing:
            distance = ways.distance[stops[-1] if stops else 0]
            for stop in range(1, len(home)):
                actions = moved + distance[stop] + home[stop] + taken + 1
                if visited >> stop & 1 or actions > ways.rules.max_actions:
                    continue
                trip = _Candidate(stops=(*stops, stop), visited=visited | 1 << stop, actions=actions)
                grown.append((trip.stops, trip.visited, moved + distance[stop]))
                if trip.visited not in found or found[trip.visited].actions > actions:
                    found[trip.visited] = trip
        growing = grown
    return list(found.values())


@dataclass(frozen=True)
class Routes:
    """The stops that matter and the distances between them.

    `stops` are the start (number 0) and all energy that can be fetched in time, nearest to the start first.

    `distance[i][j]` is in moves; `passed[i][j]` has bit k set if stop k lies on a shortest way from i to j.
    `maps` (stops, rows, columns) are the distances of every cell to every stop, FAR where there is no way.
    """

    stops: tuple[Cell, ...]
    distance: list[list[int]]
    passed: list[list[int]]
    maps: NDArray[np.int8]
    rules: Rules

    def way(self, start: int, end: int) -> list[str]:
        """The moves of one shortest way."""
        cell, moves = self.stops[start], []
        to_go = self.maps[end]
        rows, columns = to_go.shape
        while to_go[cell]:
            for move in self.rules.moves:
                there = (cell[0] + MOVES[move][0], cell[1] + MOVES[move][1])
                inside = 0 <= there[0] < rows and 0 <= there[1] < columns
                if inside and to_go[there] == to_go[cell] - 1:
                    cell = there
                    moves.append(move)
                    break
        return moves


def routes(grid: Grid, rules: Rules) -> Routes:
    """All that a search needs to know of a grid."""
    home = _distance_maps(grid, rules, [grid.start])[0]
    within = grid.energy & (2 * home.astype(int) + 2 <= rules.max_actions)
    energy = sorted((int(home[r, c]), int(r), int(c)) for r, c in np.argwhere(within))
    stops = [grid.start, *((r, c) for _, r, c in energy)]
    maps = _distance_maps(grid, rules, stops)
    rows, columns = np.array(stops).T
    distance = maps[:, rows, columns].astype(np.int16)
    on_the_way = distance[:, None, :] + distance[None, :, :] == distance[:, :, None]
    number = np.arange(len(stops))
    on_the_way[number, :, number] = on_the_way[:, number, number] = False
    return Routes(
        stops=tuple(stops),
        distance=distance.tolist(),
        passed=[[_as_bits(flags) for flags in row] for row in on_the_way],
        maps=maps,
        rules=rules,
    )


def _as_bits(flags: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _distance_maps(grid: Grid, rules: Rules, sources: list[Cell]) -> NDArray[np.int8]:
    """Breadth-first search from many cells at once, one ring of all the searches at a time."""
    free = np.pad(~grid.obstacle, 1)
    reached = np.zeros((len(sources), *free.shape), bool)
    reached[np.arange(len(sources)), [r + 1 for r, _ in sources], [c + 1 for _, c in sources]] = True
    maps = np.where(reached, 0, FAR).astype(np.int8)
    ring, steps = reached.copy(), 0
    while ring.any():
        steps += 1
        spread = np.zeros_like(ring)
        for move in rules.moves:
            spread |= np.roll(ring, MOVES[move], axis=(1, 2))
        ring = spread & free & ~reached
        reached |= ring
        maps[ring] = steps
    return maps[:, 1:-1, 1:-1]
