"""View, map and dead reckoning, against MiniGrid's own knowledge of its worlds."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from minigrid.core.grid import Grid as MiniGrid
from minigrid.core.world_object import Ball, Door, Wall

from spca_minigrid.cells import EMPTY, UNSEEN, Point, cell_of
from spca_minigrid.view import covered, visible
from spca_minigrid.world import GridWorld
from spca_minigrid.worldmap import WorldMap

ENVS = (
    "MiniGrid-FourRooms-v0",
    "MiniGrid-DoorKey-8x8-v0",
    "MiniGrid-LavaCrossingS9N2-v0",
    "MiniGrid-ObstructedMaze-1Dlhb-v0",
    "MiniGrid-Dynamic-Obstacles-8x8-v0",
    "MiniGrid-RedBlueDoors-6x6-v0",
    "BabyAI-PutNextS5N2Carrying-v0",
    "BabyAI-BossLevel-v0",
)
moves = st.lists(st.sampled_from([0, 1, 2, 2, 2, 3, 4, 5]), max_size=120)


def explore(env: str, seed: int, walk: list[int]) -> tuple[GridWorld, WorldMap, Point]:
    """A world after a walk, the map made on the way, and where the map's origin is in the world."""
    world = GridWorld(env, seed)
    origin = (int(world.env.agent_pos[0]), int(world.env.agent_pos[1]))
    known = WorldMap()
    known.observe(*world.look())
    for primitive in walk:
        if world.over:
            break
        known.observe(*world.step(primitive), primitive)
    return world, known, origin


def true_cell(world: GridWorld, point: Point) -> str:
    grid = world.env.grid
    if not (0 <= point[0] < grid.width and 0 <= point[1] < grid.height):
        return "wall"  # so MiniGrid shows what lies outside
    found = grid.get(*point)
    return EMPTY if found is None else cell_of(*found.encode())


@given(st.sampled_from(ENVS), st.integers(0, 1000), moves)
@example("MiniGrid-Dynamic-Obstacles-8x8-v0", 3, [2, 2, 0, 2, 1, 2, 2] * 6)
def test_the_map_is_true(env: str, seed: int, walk: list[int]) -> None:
    world, known, (ox, oy) = explore(env, seed, walk)
    x, y = known.position
    assert (x + ox, y + oy) == tuple(int(v) for v in world.env.agent_pos)
    assert known.direction == world.env.agent_dir
    carried = world.env.carrying
    assert (known.held.cell if known.held else None) == (carried and cell_of(*carried.encode()))
    in_sight = set(visible(known.position, known.direction, known.cell))
    for (x, y), cell in known.cells.items():
        if (x, y) == known.position:
            continue  # the hand's content is shown there
        balls_moved = env.startswith("MiniGrid-Dynamic") and (x, y) not in in_sight
        if not balls_moved:
            assert cell == true_cell(world, (x + ox, y + oy)), (x, y)


@settings(max_examples=40)
@given(st.sampled_from(ENVS), st.integers(0, 1000), moves)
def test_each_thing_has_one_id_and_keeps_it(env: str, seed: int, walk: list[int]) -> None:
    world, known, _ = explore(env, seed, walk)
    places = [t.place for t in known.present()]
    assert len(places) == len(set(places))
    for thing in known.present():
        assert known.cell(thing.place) == thing.cell
    if env.startswith("MiniGrid-Dynamic"):
        return
    fresh = WorldMap()  # who sees the same world for the first time finds as many things in it, or fewer
    fresh.observe(*world.look())
    shift = known.position
    for thing in fresh.present():
        same = known.thing_at((thing.place[0] + shift[0], thing.place[1] + shift[1]))
        assert same is not None and same.cell == thing.cell
    assert len({t.id for t in known.things.values()}) == len(known.things)


@given(st.integers(0, 10_000), st.integers(0, 3))
def test_sight_spreads_as_in_minigrid(seed: int, direction: int) -> None:
    """Random views of walls, closed doors and balls: the same cells are seen as by MiniGrid's own rule."""
    rng = np.random.default_rng(seed)
    grid = MiniGrid(7, 7)
    cells: dict[Point, str] = {}
    points = covered((0, 0), direction)
    for column in range(7):
        for row in range(7):
            roll = rng.random()
            thing = (
                Wall() if roll < 0.25 else Door("red") if roll < 0.3 else Ball("blue") if roll < 0.4 else None
            )
            if (column, row) == (3, 6):
                thing = None
            grid.set(column, row, thing)
            cells[points[column][row]] = EMPTY if thing is None else cell_of(*thing.encode())
    mask = grid.process_vis((3, 6))
    expected = {points[c][r] for c in range(7) for r in range(7) if mask[c, r]}
    assert set(visible((0, 0), direction, lambda p: cells.get(p, UNSEEN))) == expected
