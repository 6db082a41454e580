"""An example of a GRASP policy: one program for every environment.

A policy is a Python file with a function `solve` that gets an environment and returns the whole list of
actions:

    grid                  rows of cells, row 0 on top: " " empty, "E" energy, "O" obstacle, "A" the start
    start_pos             (row, column) of the start
    carry_limit           how much energy can be carried at once; None is no limit
    cost_per_step         what every action costs, whatever it does
    is_diagonals_allowed  whether the four diagonal moves exist
    max_actions           how many actions count

Actions are UP, DOWN, LEFT, RIGHT, UPLEFT, UPRIGHT, DOWNLEFT, DOWNRIGHT, TAKE and DROP. The score is the
energy that lies in the start cell in the end, less the costs.

This one grows plans energy by energy. From the last energy the next one is fetched directly, or after
bringing home what is carried. Of the plans with equally many energies only the twenty shortest are grown
further, and the best of all that were ever seen, brought home, is the answer.
"""

from __future__ import annotations

from collections import deque

MOVES = {
    (-1, 0): "UP",
    (1, 0): "DOWN",
    (0, -1): "LEFT",
    (0, 1): "RIGHT",
    (-1, -1): "UPLEFT",
    (-1, 1): "UPRIGHT",
    (1, -1): "DOWNLEFT",
    (1, 1): "DOWNRIGHT",
}
PLANS_KEPT = 20
CHOICES = 5

Cell = tuple[int, int]
# From a cell: the distance of every other, and the energy, nearest first.
View = tuple[dict[Cell, int], list[Cell]]
# A plan: actions so far, the cell where it ends, the energy carried, and its stops (energy to TAKE, home to
# DROP).
Plan = tuple[int, Cell, int, tuple[Cell, ...]]


def solve(
    grid: list[list[str]],
    start_pos: Cell,
    carry_limit: int | None,
    cost_per_step: float,
    is_diagonals_allowed: bool,
    max_actions: int,
) -> list[str]:
    """The actions for one environment."""
    home = (start_pos[0], start_pos[1])
    moves = [move for move in MOVES if is_diagonals_allowed or 0 in move]
    all_energy = {(r, c) for r, row in enumerate(grid) for c, symbol in enumerate(row) if symbol == "E"}
    seen: dict[Cell, View] = {}

    def look_around(cell: Cell) -> View:
        if cell not in seen:
            far = distances(grid, cell, moves)
            seen[cell] = far, [there for there in far if there in all_energy]
        return seen[cell]

    to_home, _ = look_around(home)
    best_value, best_stops = 0.0, list[Cell]()
    plans: list[Plan] = [(0, home, 0, ())]
    for energies in range(1, max_actions):
        grown: dict[object, Plan] = {}
        for actions, cell, carried, stops in plans:
            ways_to_go_on: list[Plan] = []
            if carried < (carry_limit or max_actions):
                ways_to_go_on.append((actions, cell, carried, stops))
            if carried > 0:
                ways_to_go_on.append((actions + to_home[cell] + 1, home, 0, (*stops, home)))
            for used, place, load, before in ways_to_go_on:
                far, energy = look_around(place)
                for there in [cell for cell in energy if cell not in before][:CHOICES]:
                    plan = (used + far[there] + 1, there, load + 1, (*before, there))
                    same = (frozenset(before), there, load)
                    fits = plan[0] + to_home[there] + 1 <= max_actions
                    if fits and (same not in grown or grown[same][0] > plan[0]):
                        grown[same] = plan
        # Part of the way home will be spent on more energy, so it counts a little less.
        plans = sorted(grown.values(), key=lambda plan: plan[0] + 0.9 * to_home[plan[1]])[:PLANS_KEPT]
        for actions, cell, _, stops in plans:
            value = energies - cost_per_step * (actions + to_home[cell] + 1)
            if value > best_value:
                best_value, best_stops = value, [*stops, home]
    ways = [look_around(stop)[0] for stop in best_stops]
    return as_actions(home, best_stops, ways, moves)


def distances(grid: list[list[str]], start: Cell, moves: list[Cell]) -> dict[Cell, int]:
    """Moves from a cell to all that can be reached, in order of distance."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        row, column = queue.popleft()
        steps = found[row, column] + 1
        for down, right in moves:
            r, c = row + down, column + right
            if (r, c) not in found and 0 <= r < len(grid) and 0 <= c < len(grid[0]) and grid[r][c] != "O":
                found[r, c] = steps
                queue.append((r, c))
    return found


def as_actions(home: Cell, stops: list[Cell], ways: list[dict[Cell, int]], moves: list[Cell]) -> list[str]:
    """The moves from stop to stop by the distances to each.

    There is a TAKE at each energy and a DROP at each visit home.
    """
    actions = []
    cell = home
    for stop, to_go in zip(stops, ways, strict=True):
        while cell != stop:
            for down, right in moves:
                there = (cell[0] + down, cell[1] + right)
                if to_go.get(there) == to_go[cell] - 1:
                    actions.append(MOVES[down, right])
                    cell = there
                    break
        actions.append("DROP" if stop == home else "TAKE")
    return actions
