"""A hand-written program for the MiniGrid tasks: the interface by example, and proof that they can be solved.

A policy is a Python file with a function `solve` that gets the whole world and the first direction, and
returns all actions: LEFT, RIGHT, MOVE, PICKUP, DROP, UNLOCK.
"""

from __future__ import annotations

from collections import deque

Cell = tuple[int, int]
DIRECTIONS = ["right", "down", "left", "up"]
STEPS = [(0, 1), (1, 0), (0, -1), (-1, 0)]


def solve(grid: list[list[str]], start_direction: str) -> list[str]:
    """Fetch the key, open the door, then walk to the goal or fetch the box, if there is one."""
    cells = {(r, c): cell for r, row in enumerate(grid) for c, cell in enumerate(row)}
    place = next(p for p, cell in cells.items() if cell == "agent")
    key = next(p for p, cell in cells.items() if cell.startswith("key"))
    door = next(p for p, cell in cells.items() if cell.startswith("door"))
    pose = (place, DIRECTIONS.index(start_direction))
    free = {p for p, cell in cells.items() if cell in ("empty", "agent")}

    way, pose = face(pose, key, free)
    actions = [*way, "PICKUP"]
    free.add(key)
    way, pose = face(pose, door, free)
    actions += [*way, "UNLOCK"]
    free.add(door)

    goal = next((p for p, cell in cells.items() if cell == "goal"), None)
    if goal is not None:
        way, pose = face(pose, goal, free)
        return [*actions, *way, "MOVE"]
    box = next((p for p, cell in cells.items() if cell.startswith("box")), None)
    if box is None:
        return actions
    way, pose = face(pose, box, free)
    # The key has to be put down first, to a side or behind, but not in the doorway.
    for turns in (1, 2, 3):
        row, column = STEPS[(pose[1] + turns) % 4]
        if (pose[0][0] + row, pose[0][1] + column) in free - {door}:
            return [*actions, *way, *["RIGHT"] * turns, "DROP", *["RIGHT"] * (4 - turns), "PICKUP"]
    return actions


def face(pose: tuple[Cell, int], target: Cell, free: set[Cell]) -> tuple[list[str], tuple[Cell, int]]:
    """The shortest way to stand before a cell and look at it, and the pose it ends in."""
    ways: dict[tuple[Cell, int], list[str]] = {pose: []}
    queue = deque([pose])
    while queue:
        place, direction = queue.popleft()
        ahead = (place[0] + STEPS[direction][0], place[1] + STEPS[direction][1])
        if ahead == target:
            return ways[place, direction], (place, direction)
        following = {"LEFT": (place, (direction - 1) % 4), "RIGHT": (place, (direction + 1) % 4)}
        if ahead in free:
            following["MOVE"] = (ahead, direction)
        for action, after in following.items():
            if after not in ways:
                ways[after] = [*ways[place, direction], action]
                queue.append(after)
    return [], pose
