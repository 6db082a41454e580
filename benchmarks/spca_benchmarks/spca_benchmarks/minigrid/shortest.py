"""The fewest primitives that fulfil a mission, by someone who knows the whole world.

For measuring, never for acting.

Breadth-first search over pose, hand, opened doors and moved things. Only what the mission names, and keys of
locked doors, is ever picked up: a way that has to be cleared of other things has no reference here, nor has a
hidden key.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from spca_minigrid import primitives
from spca_minigrid.cells import DIRECTIONS, EMPTY, GOAL, Point, ahead, beside, cell_of, kind_of
from spca_minigrid.mission import Clause, Mission, Noun
from spca_minigrid.world import GridWorld
from spca_minigrid.worldmap import KnownThing

_MOST_STATES = 60_000


class _State(NamedTuple):
    place: Point
    direction: int
    held: str
    opened: frozenset[Point]
    moved: tuple[tuple[str, Point], ...]
    """Things that were put down somewhere, by id."""
    done: frozenset[int]
    """Numbers of the clauses fulfilled."""


class Truth:
    """The whole world as it is before the first primitive, in its own coordinates."""

    def __init__(self, world: GridWorld) -> None:
        env = world.env
        self.cells: dict[Point, str] = {}
        self.things: dict[str, KnownThing] = {}
        for x in range(env.grid.width):
            for y in range(env.grid.height):
                found = env.grid.get(x, y)
                cell = cell_of(*found.encode()) if found is not None else EMPTY
                self.cells[x, y] = cell
                self._add(cell, (x, y))
        self.place: Point = (int(env.agent_pos[0]), int(env.agent_pos[1]))
        self.direction = int(env.agent_dir)
        self.held = ""
        if env.carrying is not None:
            self.held = self._add(cell_of(*env.carrying.encode()), (-1, -1))
        self.room = self._room()

    def _add(self, cell: str, place: Point) -> str:
        words = [*cell.split(), "", ""]
        if words[0] not in ("door", "key", "ball", "box", "goal"):
            return ""
        name = f"{words[0]}_{words[1]}_{place[0]}_{place[1]}"
        self.things[name] = KnownThing(name, words[0], words[1], words[2], place, place)
        return name

    def _room(self) -> set[Point]:
        """The room where the agent starts, doors included."""
        found, edge = {self.place}, [self.place]
        while edge:
            for point in beside(edge.pop()):
                cell = self.cells.get(point, "wall")
                if point not in found and cell != "wall":
                    found.add(point)
                    if kind_of(cell) != "door":
                        edge.append(point)
        return found

    def reachable(self) -> set[Point]:
        """All cells that are not walls and can be come to, whatever lies or is locked in between."""
        found, edge = {self.place}, [self.place]
        while edge:
            for point in beside(edge.pop()):
                if point not in found and self.cells.get(point, "wall") != "wall":
                    found.add(point)
                    edge.append(point)
        return found

    def meant(self, noun: Noun) -> list[str]:
        """The ids of all things that a noun may mean."""
        return [t.id for t in self.things.values() if self._fits(t, noun)]

    def _fits(self, thing: KnownThing, noun: Noun) -> bool:
        if noun.kind not in (thing.kind, "something") or noun.colour not in ("", thing.colour):
            return False
        if not noun.place:
            return True
        assert not isinstance(thing.place, str)
        x, y = thing.place[0] - self.place[0], thing.place[1] - self.place[1]
        dx, dy = DIRECTIONS[self.direction]
        forward, right = x * dx + y * dy, -x * dy + y * dx
        side = {"front": forward > 0, "behind": forward < 0, "right": right > 0, "left": right < 0}[
            noun.place
        ]
        return side and thing.place in self.room


def shortest(world: GridWorld, mission: Mission, report: bool = False) -> int | None:
    """The fewest primitives from the start.

    None if the search has no answer (see above) or grows too large.
    """
    if any(noun.given for noun in mission.nouns):
        return None
    return _Search(Truth(world), mission, report).run()


class _Search:
    def __init__(self, truth: Truth, mission: Mission, report: bool) -> None:
        self._truth, self._report = truth, report
        self._clauses = mission.clauses
        self._part = [number for number, part in enumerate(mission.parts) for _ in part]
        self._meant = {noun.symbol: set(truth.meant(noun)) for noun in mission.nouns}
        self._locked = {t.place: t.colour for t in truth.things.values() if t.state == "locked"}
        keys = {t.id for t in truth.things.values() if t.kind == "key" and t.colour in self._locked.values()}
        named = {i for c in self._clauses if c.verb in ("pick", "put") for i in self._meant[c.noun.symbol]}
        self._portable = keys | named

    def run(self) -> int | None:
        truth = self._truth
        start = _State(truth.place, truth.direction, truth.held, frozenset(), (), frozenset())
        queue: deque[tuple[_State, int]] = deque([(start, 0)])
        seen = {start}
        while queue and len(seen) < _MOST_STATES:
            state, steps = queue.popleft()
            for after in self._following(state):
                if len(after.done) == len(self._clauses):
                    return steps + 1 + self._report
                if after not in seen:
                    seen.add(after)
                    queue.append((after, steps + 1))
        return None

    def _following(self, state: _State) -> Iterator[_State]:
        yield self._judge(state, state._replace(direction=(state.direction - 1) % 4), primitives.LEFT)
        yield self._judge(state, state._replace(direction=(state.direction + 1) % 4), primitives.RIGHT)
        front = ahead(state.place, state.direction)
        thing = self._thing_at(state, front)
        cell = self._truth.cells.get(front, "wall")
        if thing is None or thing.kind in ("door", GOAL):
            if thing is not None and thing.kind == "door":
                is_open = (thing.state == "open") != (front in state.opened)
                if is_open:
                    yield self._judge(state, state._replace(place=front), primitives.FORWARD)
                if front not in self._locked or front in state.opened or self._has_key(state, front):
                    toggled = state._replace(opened=state.opened ^ {front})
                    yield self._judge(state, toggled, primitives.TOGGLE)
            elif cell not in ("wall", "lava"):
                if thing is None or self._is_aim(thing):
                    yield self._judge(state, state._replace(place=front), primitives.FORWARD)
                if thing is None and state.held:
                    moved = tuple(sorted({**dict(state.moved), state.held: front}.items()))
                    yield self._judge(state, state._replace(held="", moved=moved), primitives.DROP)
        elif not state.held and thing.id in self._portable:
            moved = tuple(sorted({**dict(state.moved), thing.id: (-1, -1)}.items()))
            yield self._judge(state, state._replace(held=thing.id, moved=moved), primitives.PICK_UP)

    def _thing_at(self, state: _State, point: Point) -> KnownThing | None:
        moved = dict(state.moved)
        for thing in self._truth.things.values():
            place = moved.get(thing.id, thing.place)
            if place == point and thing.id != state.held:
                return thing
        return None

    def _has_key(self, state: _State, door: Point) -> bool:
        held = self._truth.things.get(state.held)
        return held is not None and held.kind == "key" and held.colour == self._locked[door]

    def _is_aim(self, thing: KnownThing) -> bool:
        return any(c.verb == "reach" and thing.id in self._meant[c.noun.symbol] for c in self._clauses)

    def _judge(self, before: _State, after: _State, primitive: int) -> _State:
        """Add the clauses that this primitive has fulfilled, part by part."""
        done = set(after.done)
        for number, clause in enumerate(self._clauses):
            due = all(n in done for n in range(number) if self._part[n] < self._part[number])
            if number not in done and due and self._fulfilled(clause, before, after, primitive):
                done.add(number)
        return after._replace(done=frozenset(done))

    def _fulfilled(self, clause: Clause, before: _State, after: _State, primitive: int) -> bool:
        meant = self._meant[clause.noun.symbol]
        front = ahead(after.place, after.direction)
        faced = self._thing_at(after, front)
        if clause.verb == "go":
            return faced is not None and faced.id in meant
        if clause.verb == "reach":
            stood_on = self._thing_at(after, after.place)
            return stood_on is not None and stood_on.id in meant
        if clause.verb == "open":
            opened = primitive == primitives.TOGGLE and faced is not None and faced.id in meant
            return opened and (faced.state == "open") != (front in after.opened) if faced else False
        if clause.verb == "pick":
            return primitive == primitives.PICK_UP and after.held in meant
        if primitive != primitives.DROP or before.held not in meant or clause.beside is None:
            return False
        others = self._meant[clause.beside.symbol]
        return any((t := self._thing_at(after, p)) is not None and t.id in others for p in beside(front))
