"""Sokoban: push every box onto a target.

A step costs 0.1; a box that comes onto a target gives 1 and one that leaves it takes 1; the last one gives 10
more and ends the episode (rewards of the customary `gym-sokoban`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spca_core.errors import InputError
from spca_programs.state import Entity, State, entity, state_of
from spca_worldcoder.worlds.world import Step

Cell = tuple[int, int]
MOVES: dict[str, Cell] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
MISSION = "win the game"
_TRIES = 400


@dataclass(frozen=True)
class Level:
    """Floor, boxes, targets and the player. What is not floor is wall."""

    size: int
    floor: frozenset[Cell]
    boxes: frozenset[Cell]
    targets: frozenset[Cell]
    player: Cell

    @property
    def state(self) -> State:
        """The level as entities."""
        walls = (
            (x, y) for x in range(self.size) for y in range(self.size) if (x, y) not in self.floor
        )  # all of them: the world's border is among them
        things: list[Entity] = [entity("wall", *cell) for cell in walls]
        things += [entity("box", *cell) for cell in self.boxes]
        things += [entity("target", *cell) for cell in self.targets]
        return state_of([*things, entity("player", *self.player)])


class Sokoban:
    """Levels of `size` × `size` cells with `boxes` boxes, drawn by reverse play."""

    actions = tuple(MOVES)

    def __init__(self, boxes: int = 2, size: int = 7) -> None:
        if not 1 <= boxes <= 8:
            raise InputError(f"Sokoban with {boxes} boxes", hint="1 to 8")
        if not 5 <= size <= 12:
            raise InputError(f"Sokoban of {size} × {size} cells", hint="5 to 12")
        if boxes > (size - 3) ** 2 // 2:
            raise InputError(
                f"{boxes} boxes do not fit into {size} × {size} cells", hint="fewer, or more cells"
            )
        self.name = f"sokoban-{boxes}-{size}x{size}"
        self._boxes, self.size = boxes, size
        self.level = Level(size, frozenset(), frozenset(), frozenset(), (0, 0))

    def reset(self, seed: int) -> tuple[State, str]:
        """A new level."""
        rng = np.random.default_rng([seed, self._boxes, self.size])
        return self.begin(draw(rng, self._boxes, self.size))

    def begin(self, level: Level) -> tuple[State, str]:
        """Begin with a given level."""
        self.level = level
        return level.state, MISSION

    def step(self, action: str) -> Step:
        """Move, or push."""
        if action not in MOVES:
            raise ValueError(f"no action '{action}'")
        before = self.level
        after = self.level = push(before, MOVES[action])
        gained = len(after.boxes & after.targets) - len(before.boxes & before.targets)
        done = after.boxes <= after.targets
        return Step(after.state, round(-0.1 + gained + (10.0 if done else 0.0), 6), done)


def push(level: Level, move: Cell) -> Level:
    """The level after a move; the same where it is blocked."""
    to = _ahead(level.player, move)
    if to not in level.floor:
        return level
    if to not in level.boxes:
        return replace(level, player=to)
    beyond = _ahead(to, move)
    if beyond not in level.floor or beyond in level.boxes:
        return level
    return replace(level, player=to, boxes=level.boxes - {to} | {beyond})


def draw(rng: np.random.Generator, boxes: int, size: int) -> Level:
    """A level that can be solved: boxes start on the targets and are pulled away.

    Every box is off its target.
    """
    for _ in range(_TRIES):
        floor = _room(rng, size, boxes)
        cells = sorted(floor)
        chosen = [cells[i] for i in rng.permutation(len(cells))]
        targets = frozenset(chosen[:boxes])
        level = Level(size, floor, targets, targets, chosen[boxes])
        level = _pull(rng, level, 40 * boxes)
        if not level.boxes & level.targets:
            return level
    raise InputError(f"no Sokoban level of {size} × {size} cells with {boxes} boxes was found")


def _room(rng: np.random.Generator, size: int, boxes: int) -> frozenset[Cell]:
    """A connected floor with some inner walls."""
    inside = [(x, y) for x in range(1, size - 1) for y in range(1, size - 1)]
    while True:
        walls = int(rng.integers(0, len(inside) // 5 + 1))
        taken = {inside[i] for i in rng.permutation(len(inside))[:walls]}
        floor = {cell for cell in inside if cell not in taken}
        if len(floor) >= 3 * boxes + 4 and len(_reachable(next(iter(sorted(floor))), floor)) == len(floor):
            return frozenset(floor)


def _pull(rng: np.random.Generator, level: Level, pulls: int) -> Level:
    """Random pulls, each from a random side of a random box that the player can walk to."""
    for _ in range(pulls):
        near = _reachable(level.player, level.floor - level.boxes)
        free = level.floor - level.boxes
        choices = []
        for box in sorted(level.boxes):
            for move in MOVES.values():
                # Before the push, the box was one cell back and the player one further.
                origin, stood = _ahead(box, move, -1), _ahead(box, move, -2)
                if origin in near and stood in free:
                    choices.append((box, origin, stood))
        if not choices:
            break
        box, origin, stood = choices[int(rng.integers(len(choices)))]
        level = replace(level, boxes=level.boxes - {box} | {origin}, player=stood)
    cells = sorted(_reachable(level.player, level.floor - level.boxes))
    return replace(level, player=cells[int(rng.integers(len(cells)))])


def _reachable(start: Cell, free: frozenset[Cell] | set[Cell]) -> set[Cell]:
    """Cells that can be walked to from `start`."""
    found, frontier = {start}, [start]
    while frontier:
        cell = frontier.pop()
        for move in MOVES.values():
            neighbour = _ahead(cell, move)
            if neighbour in free and neighbour not in found:
                found.add(neighbour)
                frontier.append(neighbour)
    return found


def _ahead(cell: Cell, move: Cell, steps: int = 1) -> Cell:
    return cell[0] + steps * move[0], cell[1] + steps * move[1]
