"""Three MiniGrid tasks for programs that plan: fully observed, the whole list of actions at once."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from spca_benchmarks.minigrid.shortest import shortest
from spca_core.errors import InputError, one_of
from spca_core.model import Record
from spca_minigrid import primitives
from spca_minigrid.cells import DIRECTION_NAMES, EMPTY, cell_of
from spca_minigrid.mission import parse_mission
from spca_minigrid.world import GridWorld
from spca_programs.ipp.domain import Answer, Judgement

TASKS = {
    "minigrid-unlock": ("MiniGrid-Unlock-v0", "open the locked door"),
    "minigrid-doorkey": ("MiniGrid-DoorKey-8x8-v0", "open the locked door and step onto the goal square"),
    "minigrid-unlockpickup": (
        "MiniGrid-UnlockPickup-v0",
        "open the locked door and pick up the box behind it",
    ),
}
ACTIONS = {
    "LEFT": primitives.LEFT,
    "RIGHT": primitives.RIGHT,
    "MOVE": primitives.FORWARD,
    "PICKUP": primitives.PICK_UP,
    "DROP": primitives.DROP,
    "UNLOCK": primitives.TOGGLE,
}
_RANDOM_ACTIONS = 100
"""Of the random policy (published)."""
_TEST_SEEDS = 10_000_000
"""Training seeds lie below, test seeds above."""

_BRIEFING = """\
An agent in a world of square cells should {aim}. It sees the whole world before it begins.

Actions: LEFT and RIGHT turn it by a quarter, MOVE goes one cell ahead (not into walls, closed or locked \
doors, keys, boxes), PICKUP takes the thing in the cell ahead into the empty hand, DROP puts what it holds \
into the empty cell ahead, UNLOCK opens the door ahead: a locked one only with the key of its colour in the \
hand. Only one thing can be held at a time. An action that is not possible changes nothing but is counted.

Score: 0 if the aim is not reached, otherwise 1 - 0.9 * actions / limit, where the limit is a few hundred \
actions; the fewer actions, the better. Reaching the aim ends the world; actions after that are ignored.

Parameters of the program:
- grid: list of rows of strings, grid[row][column], row 0 on top: "wall", "empty", "agent", "goal", and with \
colours, for example "key yellow", "box blue", "door yellow locked". The agent stands in the one cell that \
says "agent".
- start_direction: "right", "down", "left" or "up", where the agent looks at first"""

_SKETCH = """\
find agent, key, door in the grid
route = breadth-first search to a cell beside the key; turn towards it; PICKUP
route = breadth-first search to the cell before the door; turn towards it; UNLOCK
if there is a goal or box: walk there (drop the key before taking the box)"""

_STAGES = (
    "only walking: the agent has to come to stand beside the key, facing it, by turning and moving.",
    "it picks the key up and opens the locked door with it.",
    "the whole task, in as few actions as possible.",
)


class MinigridCase(Record):
    """One world: an environment's id and a seed."""

    env: str
    seed: int


class MinigridDomain:
    """See `spca_programs.ipp.domain.Domain`; `name` is one of TASKS."""

    signature = "solve(grid, start_direction)"
    actions = tuple(ACTIONS)
    sketch = _SKETCH
    has_goal = True
    baselines = ("random", "greedy")
    stages = _STAGES

    def __init__(self, name: str) -> None:
        if name not in TASKS:
            raise InputError(f"unknown task '{name}'", hint=one_of(name, TASKS))
        self.name = name
        self._env, aim = TASKS[name]
        self.midpoint = "up to taking the key" if name == "minigrid-unlock" else "up to opening the door"
        self.briefing = _BRIEFING.format(aim=aim)

    def split(self, train: int, test: int, seed: int) -> tuple[list[MinigridCase], list[MinigridCase]]:
        """Consecutive seeds; the same test worlds for equal seeds, whatever the training."""
        first, first_test = 1000 * seed, _TEST_SEEDS + 100_000 * seed
        if train > 1000:
            raise InputError(f"{train} training cases", hint="at most 1000")
        return (
            [MinigridCase(env=self._env, seed=s) for s in range(first, first + train)],
            [MinigridCase(env=self._env, seed=s) for s in range(first_test, first_test + test)],
        )

    def name_of(self, case: MinigridCase) -> str:
        """See `Domain.name_of`."""
        return f"{case.env}/{case.seed}"

    def arguments(self, case: MinigridCase) -> list[Any]:
        """See `Domain.arguments`."""
        world = GridWorld(case.env, case.seed)
        return [grid_of(world), DIRECTION_NAMES[world.env.agent_dir]]

    def show(self, case: MinigridCase) -> str:
        """See `Domain.show`."""
        return _picture(GridWorld(case.env, case.seed))

    def judge(self, case: MinigridCase, plan: Sequence[str]) -> Judgement:
        """Completed means rewarded."""
        world, trace = self._played(case, plan)
        done = world.terminated and world.reward > 0
        trace.append("the aim is reached" if done else "the aim is not reached")
        return Judgement(score=world.reward if done else 0.0, completed=done, trace=tuple(trace))

    def after(self, case: MinigridCase, plan: Sequence[str]) -> str:
        """See `Domain.after`."""
        return _picture(self._played(case, plan)[0])

    @staticmethod
    def _played(case: MinigridCase, plan: Sequence[str]) -> tuple[GridWorld, list[str]]:
        """The world after a plan, and what came of each action."""
        world, trace = GridWorld(case.env, case.seed), list[str]()
        for number, action in enumerate(plan, start=1):
            if world.over:
                trace.append("the world has ended; the rest is ignored")
                break
            trace.append(f"{number}. {action}: {_carry_out(world, action)}")
        return world, trace

    def baseline(self, name: str, cases: Sequence[MinigridCase], seed: int) -> list[Answer]:
        """A hundred random actions, or one thing after the other, as in the paper's A.4."""
        if name not in self.baselines:
            raise InputError(f"unknown policy '{name}'", hint=one_of(name, self.baselines))
        answers = []
        for case in cases:
            if name == "greedy":
                answers.append(Answer(plan=tuple(_greedy(GridWorld(case.env, case.seed)))))
                continue
            rng = random.Random(f"{seed}/{self.name_of(case)}")
            answers.append(Answer(plan=tuple(rng.choices(self.actions, k=_RANDOM_ACTIONS))))
        return answers

    def reference(self, case: MinigridCase) -> float:
        """The best possible score, by the shortest plan."""
        return _best_score(case)


def _greedy(world: GridWorld) -> list[str]:
    """Key, door, and then goal or box, each by breadth-first search (the paper's A.4.2 to A.4.4).

    Before it takes the box it drops the key where it came from, to judge by its last action alone.
    """
    plan: list[str] = []

    def do(*actions: str) -> None:
        for action in actions:
            plan.append(action)
            _carry_out(world, action)

    kinds = {cell.split()[0] for row in grid_of(world) for cell in row}
    for kind, action in (("key", "PICKUP"), ("door", "UNLOCK"), ("goal", "MOVE"), ("box", "PICKUP")):
        if kind in kinds:
            do(*_route(world, kind))
            if kind == "box":
                back = {"RIGHT": ("RIGHT", "LEFT"), "LEFT": ("LEFT", "RIGHT")}.get(plan[-1])
                turn, again = ((b,) for b in back) if back else (("RIGHT", "RIGHT"),) * 2
                do(*turn, "DROP", *again)
            do(action)
    return plan


def _route(world: GridWorld, kind: str) -> list[str]:
    """The actions of a shortest way over free cells, up to the one that faces a thing."""
    rows, (x, y) = grid_of(world), (int(v) for v in world.env.agent_pos)
    looks, queue = world.env.agent_dir, deque([(x, y)])
    came: dict[tuple[int, int], tuple[int, int]] = {(x, y): (x, y)}
    steps = ((1, 0), (0, 1), (-1, 0), (0, -1))
    while queue:
        here = queue.popleft()
        cell = rows[here[1]][here[0]]
        if cell.split()[0] == kind:
            break
        if here == (x, y) or cell == EMPTY or cell.endswith("open"):
            for dx, dy in steps:
                there = (here[0] + dx, here[1] + dy)
                if there not in came:
                    came[there] = here
                    queue.append(there)
    way = [here]
    while came[way[-1]] != way[-1]:
        way.append(came[way[-1]])
    actions: list[str] = []
    for before, after in pairwise(reversed(way)):
        wanted = steps.index((after[0] - before[0], after[1] - before[1]))
        actions += [[], ["RIGHT"], ["RIGHT", "RIGHT"], ["LEFT"]][(wanted - looks) % 4] + ["MOVE"]
        looks = wanted
    return actions[:-1]


@lru_cache(maxsize=20_000)
def _best_score(case: MinigridCase) -> float:
    world = GridWorld(case.env, case.seed)
    steps = shortest(world, parse_mission(world.mission))
    return 0.0 if steps is None else 1 - 0.9 * steps / world.max_steps


def grid_of(world: GridWorld) -> list[list[str]]:
    """The whole world as rows of cells, with the agent in it."""
    grid, (x, y) = world.env.grid, world.env.agent_pos
    rows = [[_cell(grid.get(column, row)) for column in range(grid.width)] for row in range(grid.height)]
    rows[int(y)][int(x)] = "agent"
    return rows


def _cell(found: Any) -> str:
    cell = EMPTY if found is None else cell_of(*found.encode())
    return "goal" if cell.startswith("goal") else cell


def _picture(world: GridWorld) -> str:
    rows = "\n".join(" | ".join(row) for row in grid_of(world))
    held = world.env.carrying
    hand = "nothing" if held is None else f"the {held.color} {held.type}"
    x, y = (int(v) for v in world.env.agent_pos)
    looks = DIRECTION_NAMES[world.env.agent_dir]
    return (
        f"{rows}\n\nThe agent is at row {y}, column {x}, looks {looks} and holds {hand}. "
        f"Mission: {world.mission}."
    )


def _carry_out(world: GridWorld, action: str) -> str:
    """Do one action, and say what came of it."""
    env = world.env
    before = _state(world)
    if action not in ACTIONS:
        world.step(primitives.DONE)  # it counts, and does nothing
        return "no such action"
    world.step(ACTIONS[action])
    held = "nothing" if env.carrying is None else f"the {env.carrying.color} {env.carrying.type}"
    if before == _state(world):
        return "changed nothing"
    x, y = (int(v) for v in env.agent_pos)
    return f"at row {y}, column {x}, looking {DIRECTION_NAMES[env.agent_dir]}, holding {held}"


def _state(world: GridWorld) -> tuple[Any, ...]:
    env = world.env
    return tuple(env.agent_pos), env.agent_dir, env.carrying, env.grid.encode().tobytes()
