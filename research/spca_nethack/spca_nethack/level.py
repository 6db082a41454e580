"""The hero's knowledge of one level: its squares, the ways between them, and what stands on them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from scipy.ndimage import label

from spca_nethack.engine import nethack

Square = tuple[int, int]
"""Row and column."""
KEYS = {(-1, 0): "k", (1, 0): "j", (0, -1): "h", (0, 1): "l", (-1, -1): "y", (-1, 1): "u", (1, -1): "b",
        (1, 1): "n"}  # fmt: skip
# Indices of NetHack's map symbols (`defsym.h`).
_DARK, _DOORWAYS, _CLOSED, _FLOOR, _CORRIDORS = 0, (13, 14), (15, 16), (12, 19, 20), (21, 22)
_WALKABLE = {*_DOORWAYS, *_CLOSED, *_FLOOR, *_CORRIDORS, *range(23, 32), 33, 35, 36}
_FEATURES = {31: "fountain", 24: "stairs_down", 26: "stairs_down", 23: "stairs_up", 27: "altar", 30: "sink"}
_BOXES = ("large box", "chest")
_BOULDER = "boulder"


@lru_cache(maxsize=1)
def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[int, str]]:
    """For each glyph: map symbol (-1: none), whether one can walk there, whether it is a monster; names."""
    game = nethack()
    count = game.MAX_GLYPH
    symbol = np.full(count + 1, -1)
    walkable, monster = np.zeros(count + 1, bool), np.zeros(count + 1, bool)
    names: dict[int, str] = {}
    for glyph in range(count):
        monster[glyph] = game.glyph_is_monster(glyph)
        if game.glyph_is_cmap(glyph):
            symbol[glyph] = game.glyph_to_cmap(glyph)
            walkable[glyph] = symbol[glyph] in _WALKABLE
            if int(symbol[glyph]) in _FEATURES:
                names[glyph] = _FEATURES[int(symbol[glyph])]
        elif game.glyph_is_normal_object(glyph):
            name = game.OBJ_NAME(game.objclass(game.glyph_to_obj(glyph)))
            walkable[glyph] = name != _BOULDER
            if name != _BOULDER:
                names[glyph] = "box" if name in _BOXES else "item"
        elif game.glyph_is_body(glyph):
            walkable[glyph] = True
    return symbol, walkable, monster, names


@lru_cache(maxsize=1)
def _named() -> np.ndarray:
    """For each glyph whether it has a name."""
    named = np.zeros(nethack().MAX_GLYPH + 1, bool)
    named[list(_tables()[3])] = True
    return named


class Level:
    """The squares of a level as they were seen last, without the monsters on them."""

    def __init__(self) -> None:
        shape = nethack().DUNGEON_SHAPE
        self._ground = np.full(shape, nethack().GLYPH_CMAP_OFF)
        self.visited = np.zeros(shape, bool)
        self.searched = np.zeros(shape, int)
        self.locked: set[Square] = set()
        self.blocked: set[Square] = set()
        """Squares that could not be entered."""
        self.monsters: dict[Square, int] = {}
        """Square → glyph, for those in sight."""

    def look(self, glyphs: np.ndarray, at: Square) -> None:
        """Take over what is seen from a square."""
        _, walkable, monster, _ = _tables()
        creatures = monster[glyphs]
        shown = ~creatures
        shown[at] = False
        self._ground[shown] = glyphs[shown]
        # What is below a creature is not shown: where nothing was seen before, it is taken for floor.
        hidden = ~shown & ~walkable[self._ground]
        self._ground[hidden] = nethack().GLYPH_CMAP_OFF + 19
        creatures[at] = False
        self.monsters = {
            (int(r), int(c)): int(glyphs[r, c]) for r, c in zip(*np.nonzero(creatures), strict=True)
        }
        self.visited[at] = True

    def kind(self, square: Square) -> str:
        """`fountain`, `stairs_down`, `box`, `item` and the like; empty for nothing special."""
        return _tables()[3].get(int(self._ground[square]), "")

    def places(self, kind: str) -> list[Square]:
        """The squares of a kind."""
        found = zip(*np.nonzero(_named()[self._ground]), strict=True)
        return [square for r, c in found if self.kind(square := (int(r), int(c))) == kind]

    def kinds(self) -> set[str]:
        """All kinds of places that are known."""
        names, special = _tables()[3], _named()[self._ground]
        return {names[int(glyph)] for glyph in self._ground[special]}

    def frontier(self) -> set[Square]:
        """Squares from which something new may be seen: never visited, next to the unknown; closed doors."""
        symbol, walkable, _, _ = _tables()
        shown = symbol[self._ground]
        dark = np.pad(shown == _DARK, 1)
        near = np.zeros_like(self.visited)
        for row, column in KEYS:
            near |= dark[1 + row : 22 + row, 1 + column : 80 + column]
        closed = (shown == _CLOSED[0]) | (shown == _CLOSED[1])
        found = (near | closed) & walkable[self._ground] & ~self.visited
        return (
            {(int(r), int(c)) for r, c in zip(*np.nonzero(found), strict=True)} - self.locked - self.blocked
        )

    def suspect(self, at: Square) -> Square:
        """Return where a hidden door may be near: dead ends, then beside walls, least searched first."""
        symbol, walkable, _, _ = _tables()
        open_ = np.pad(walkable[self._ground], 1)
        ways = sum(open_[1 + r : 22 + r, 1 + c : 80 + c].astype(int) for r, c in KEYS)
        passage = np.isin(symbol[self._ground], (*_CORRIDORS, *_DOORWAYS, 12))
        edge = walkable[self._ground] & (ways < 8)
        rank = np.where(passage & (ways <= 1), 0, np.where(edge, 15, 60)) + self.searched
        return min(self.distances(at), key=lambda square: int(rank[square]))

    def distances(self, start: Square) -> dict[Square, int]:
        """Steps to every square that can be reached now."""
        found: dict[Square, int] = {}
        for square, before in self._reached(start).items():
            found[square] = found[before] + 1 if found else 0
        return found

    def rooms(self) -> list[dict[str, object]]:
        """Rooms as far as they were seen: rows and columns, size in squares, and what is in them."""
        inside = np.isin(_tables()[0][self._ground], (19, 20, *_FEATURES))
        numbered, count = label(inside, np.ones((3, 3)))
        rooms: list[dict[str, object]] = []
        for number in range(1, count + 1):
            rows, columns = np.nonzero(numbered == number)
            kinds = {self.kind((int(r), int(c))) for r, c in zip(rows, columns, strict=True)} - {""}
            if len(rows) > 2:
                spans = [[int(rows.min()), int(rows.max())], [int(columns.min()), int(columns.max())]]
                rooms.append(
                    {"rows": spans[0], "columns": spans[1], "squares": len(rows), "has": sorted(kinds)}
                )
        return rooms

    def path(self, start: Square, arrived: Callable[[Square], bool]) -> list[Square] | None:
        """Squares to step on, up to the first that has arrived; None when there is no way."""
        if arrived(start):
            return []
        before = self._reached(start, arrived)
        path = [next(reversed(before))]
        if not arrived(path[0]):
            return None
        while before[path[-1]] != start:
            path.append(before[path[-1]])
        return path[::-1]

    def _reached(
        self, start: Square, arrived: Callable[[Square], bool] = lambda square: False
    ) -> dict[Square, Square]:
        """Squares, nearest first, each with the one before it, up to the first that has arrived.

        Breadth first, so there is no shorter way. Monsters are in the way.
        """
        before = {start: start}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for square in self._next(here):
                if square not in before and (square not in self.monsters or arrived(square)):
                    before[square] = here
                    if arrived(square):
                        return before
                    queue.append(square)
        return before

    def _next(self, here: Square) -> Iterator[Square]:
        """Neighbours that can be entered; nobody goes through a door diagonally."""
        symbol, walkable, _, _ = _tables()
        ground = self._ground
        doors = (*_DOORWAYS, *_CLOSED, 12)
        in_door = symbol[ground[here]] in doors
        for row, column in KEYS:
            square = (here[0] + row, here[1] + column)
            if not (0 <= square[0] < ground.shape[0] and 0 <= square[1] < ground.shape[1]):
                continue
            if not walkable[ground[square]] or square in self.locked or square in self.blocked:
                continue
            if row and column and (in_door or symbol[ground[square]] in doors):
                continue
            yield square
