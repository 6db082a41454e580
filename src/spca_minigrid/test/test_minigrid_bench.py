"""Measuring MiniGrid: references, and tasks for programs."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from spca_minigrid.levels import find_level
from spca_minigrid.mission import parse_mission
from spca_minigrid.reference import reference
from spca_minigrid.shortest import shortest
from spca_minigrid.world import World
from spca_programs.ipp.program import Program, ProgramRunner
from spca_programs.minigrid.domain import TASKS, MinigridDomain
from spca_programs.minigrid.policies import example


@pytest.mark.parametrize(
    ("env", "seed", "steps"),
    [
        ("MiniGrid-Empty-5x5-v0", 0, 5),
        ("MiniGrid-Empty-16x16-v0", 0, 27),
        ("MiniGrid-DistShift1-v0", 0, 13),
        ("BabyAI-OpenRedDoor-v0", 0, None),
        ("MiniGrid-DoorKey-5x5-v0", 1, None),
        ("BabyAI-PutNextS4N1-v0", 0, None),
        ("BabyAI-GoToObjS4-v0", 0, None),
    ],
)
def test_the_reference_is_the_shortest(env: str, seed: int, steps: int | None) -> None:
    """Against known lengths, and against trying every sequence of primitives in the real world."""
    world = World(env, seed)
    found = shortest(world, parse_mission(world.mission))
    assert found is not None
    assert found == (by_trying(env, seed, found) if steps is None else steps)


def by_trying(env: str, seed: int, at_most: int) -> int | None:
    """Breadth-first over the real environment's states."""
    start = World(env, seed).env
    edge, seen = [start], {state(start)}
    for length in range(1, at_most + 1):
        following = []
        for world in edge:
            for primitive in range(6):
                after = copy.deepcopy(world)
                _, reward, over, _, _ = after.step(primitive)
                if over and reward > 0:
                    return length
                if not over and state(after) not in seen:
                    seen.add(state(after))
                    following.append(after)
        edge = following
    return None


def state(env) -> tuple:
    held = None if env.carrying is None else env.carrying.encode()
    return env.grid.encode().tobytes(), tuple(int(v) for v in env.agent_pos), env.agent_dir, held


def test_there_is_a_reference_only_where_nothing_moves() -> None:
    assert reference(find_level("MiniGrid-Dynamic-Obstacles-5x5"), 0).steps is None
    still = reference(find_level("MiniGrid-Empty-5x5"), 0)
    assert still.steps == 5 and still.in_view


@pytest.mark.parametrize("task", TASKS)
def test_the_example_program_completes_every_world(task: str) -> None:
    domain = MinigridDomain(task)
    _, cases = domain.split(0, 40, 0)
    program = Program(source=Path(example.__file__).read_text())
    with ProgramRunner() as runner:
        evaluation = runner.evaluate(program, domain, cases)
    assert evaluation.completion == 1 and evaluation.problems == 0
    assert 0.9 < evaluation.mean <= evaluation.reference + 1e-9


def test_minigrid_tasks_tell_what_happened() -> None:
    domain = MinigridDomain("minigrid-unlock")
    [case], [other] = domain.split(1, 1, 0)
    assert case.seed != other.seed
    judged = domain.judge(case, ["LEFT", "MOVE", "DANCE", *["LEFT"] * 400])
    assert judged.score == 0 and not judged.completed
    assert judged.trace[2] == "3. DANCE: no such action" and "the aim is not reached" in judged.trace[-1]
    assert "holds nothing" in domain.after(case, ["LEFT"]) and domain.reference(case) > 0.9
