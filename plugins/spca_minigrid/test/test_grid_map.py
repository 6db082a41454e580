"""View, map and dead reckoning, against MiniGrid's own knowledge of its worlds."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from spca_minigrid import primitives
from spca_minigrid.cells import EMPTY, Point, cell_of
from spca_minigrid.routes import Navigator
from spca_minigrid.view import visible
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


def walk_on(world: GridWorld, known: WorldMap, *walk: int) -> None:
    for primitive in walk:
        known.observe(*world.step(primitive), primitive)


def test_a_thing_keeps_its_id_through_hand_and_state() -> None:
    world, known, _ = explore("MiniGrid-DoorKey-5x5-v0", 1, [])
    key, door = (next(t for t in known.things.values() if t.kind == kind) for kind in ("key", "door"))
    walk_on(world, known, *Navigator(known).to_face({key.place}).steps, primitives.PICK_UP)
    assert known.held is key and door.state == "locked"
    walk_on(world, known, *Navigator(known).to_face({door.place}).steps, primitives.TOGGLE)
    assert (door.state, door.id) == ("open", "door_yellow_1")
    assert sum("key" in name for name in known.things) == 1


def test_moving_balls_do_not_lead_the_reckoning_astray() -> None:
    """A step that a ball prevented is not counted as one."""
    blocked = 0
    for seed in range(30):
        world, known, origin = explore("MiniGrid-Dynamic-Obstacles-6x6-v0", seed, [])
        for turn in range(40):
            free = known.cell(known.front) == EMPTY
            before = tuple(world.env.agent_pos)
            walk_on(world, known, primitives.FORWARD if free else turn % 2)
            blocked += free and tuple(world.env.agent_pos) == before
            if world.over:
                break
            assert tuple(np.add(known.position, origin)) == tuple(world.env.agent_pos)
    assert blocked > 0  # else this has shown nothing
