"""The sphere kernel never calls free what MuJoCo calls a contact, and nothing depends on its being there."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from spca_core.geometry import Array, Pose, matrix_of_vector
from spca_core.kinds import KINDS
from spca_core.world import World, load_world
from spca_motion import kernel
from spca_motion.collision import CollisionChecker, Held, Obstacle, PlanningScene
from spca_motion.limits import WorkspaceBox
from spca_motion.paths import sampled
from spca_motion.search import EDGE_STEP, Query, Start, TreeSearch
from spca_robot import ARMS as FILES

OPEN = 0.085
ARMS = sorted(path.stem for path in FILES.glob("*.yaml"))
WALL = Obstacle("wall", Pose.from_xyz_yaw(0.5, 0.0, 0.55).matrix(), (0.3, 0.02, 0.3))
needs_compiler = pytest.mark.skipif(kernel.library() is None, reason="needs a C++ compiler")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Each test loads the kernel or does not."""
    yield
    kernel.library.cache_clear()


@lru_cache
def world_of(arm: str) -> World:
    return load_world(f"tabletop@{arm}")


def cluttered(rng: np.random.Generator) -> PlanningScene:
    """Things of all kinds, anyhow in the arm's reach, and one of them in the gripper half the time."""

    def thing(name: str) -> Obstacle:
        pose = np.eye(4)
        pose[:3, :3] = matrix_of_vector(rng.normal(0, 2, 3))
        pose[:3, 3] = rng.uniform((-0.9, -0.9, 0.1), (0.9, 0.9, 1.4))
        return Obstacle(name, pose, tuple(rng.uniform(0.02, 0.4, 3)), str(rng.choice(list(KINDS))))

    held = None
    if rng.random() < 0.5:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = matrix_of_vector(rng.normal(0, 2, 3)), (0, 0, 0.16)
        size = tuple(rng.uniform(0.02, 0.1, 3))
        held = Held(Obstacle("held", pose, size, str(rng.choice(list(KINDS)))), pose)
    return PlanningScene(tuple(thing(f"thing_{i}") for i in range(rng.integers(0, 12))), held)


def compared(arm: str, seed: int, count: int) -> Array:
    """Count how often each of the kernel's states (0 to 2) came with each of MuJoCo's answers."""
    rng, world = np.random.default_rng(seed), world_of(arm)
    checker, gap = CollisionChecker(world, cluttered(rng)), float(rng.uniform(0, OPEN))
    low, high = world.robot.arm.column("range").T
    start = rng.uniform(low, high)
    allowed = ["table", "thing_0"] if rng.random() < 0.5 else []
    query = Query(checker, WorkspaceBox.around(world), Start(start, gap, frozenset(allowed)), gap)
    made = query.kernel(needed=True)
    near = start + rng.normal(0, 0.3, (count // 2, len(low)))
    path = np.concatenate([near.clip(low, high), rng.uniform(low, high, (count - len(near), len(low)))])
    table = np.zeros((3, 2), dtype=int)
    np.add.at(table, (made.states(path), np.array([int(query.valid(q)) for q in path])), 1)
    return table


@needs_compiler
@pytest.mark.parametrize(
    ("seeds", "count"),
    [(range(20), 100), pytest.param(range(1000, 1000 + 4000 // len(ARMS)), 250, marks=pytest.mark.full)],
    ids=["some", "a_million"],
)
@pytest.mark.parametrize("arm", ARMS)
def test_what_is_proven_free_is_free(arm: str, seeds: range, count: int) -> None:
    table = sum(compared(arm, seed, count) for seed in seeds)
    assert table[kernel.FREE, 0] == 0
    assert table[1].sum() < 0.35 * table.sum(), "most are decided"
    assert table[2, 1] <= 0.002 * table.sum(), "MuJoCo misses a few deep contacts"


def around_the_wall() -> tuple[Query, Array]:
    world = world_of("ur5")
    checker = CollisionChecker(world, PlanningScene((WALL,)))
    start, goal = np.array([-0.4, -1.5, 1.6, -1.7, -1.57, 0]), np.array([0.7, -1.5, 1.6, -1.7, -1.57, 0])
    query = Query(checker, WorkspaceBox.around(world), Start(start, OPEN), OPEN)
    assert query.valid(start) and query.valid(goal) and query.straight(goal) is None
    return query, goal


def found() -> Array:
    query, goal = around_the_wall()
    limits = world_of("ur5").robot.arm.column("range")
    way = sampled(TreeSearch(limits).path(query, goal[None], np.zeros(1), lambda: False), EDGE_STEP / 4)
    assert np.allclose(way[0], query.start.joints) and np.allclose(way[-1], goal)
    exact = CollisionChecker(world_of("ur5"), PlanningScene((WALL,)))
    assert all(exact.valid(q, OPEN) for q in way)
    return way


@needs_compiler
def test_a_search_ends_with_the_goal_within_an_edge_or_enclosed_and_an_error_in_a_check_is_raised() -> None:
    query, goal = around_the_wall()
    made, limits = query.kernel(needed=True), world_of("ur5").robot.arm.column("range").T
    start = query.start.joints

    def path(to: Array, box: Array, stop: Callable[[], bool] = lambda: False) -> Array | None:
        return made.path(start, to[None], box, (0.5, EDGE_STEP, 1000, 5, 1), query.valid, stop)

    def interrupt() -> bool:
        raise KeyboardInterrupt

    for near in (start, start + 0.01):
        way = path(near, limits)
        assert way is not None and np.allclose(way[[0, -1]], [start, near])
    assert path(goal, np.sort([start, goal], axis=0)) is None, "the box leaves no way around"
    with pytest.raises(KeyboardInterrupt):
        path(goal, limits, interrupt)


def test_without_a_compiler_or_with_a_broken_one_a_path_is_found_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without one, nothing is said; a broken one gives one line."""
    broken = tmp_path / "c++"
    broken.write_text("#!/bin/sh\necho 'internal compiler error' >&2\necho more >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(kernel, "state_folder", lambda: tmp_path)
    kernel.library.cache_clear()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        found()
    assert kernel.library() is None and capsys.readouterr().err == ""
    kernel.library.cache_clear()
    monkeypatch.setenv("CXX", str(broken))
    found()
    found()
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith(f"without the compiled kernel: {broken}: internal compiler error")
    assert not list((tmp_path / "kernel").iterdir())
