"""Measuring MiniGrid: references, tasks for programs, benches and their report."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from spca_core.errors import InputError
from spca_minigrid.bench import MinigridBench, Trial, TrialRow, reference, run_minigrid, summarise
from spca_minigrid.ending import Ended, Ending
from spca_minigrid.levels import find_level
from spca_minigrid.mission import parse_mission
from spca_minigrid.report import write_report
from spca_minigrid.shortest import shortest
from spca_minigrid.world import World
from spca_programs.ipp.program import Program, ProgramRunner
from spca_programs.minigrid.domain import TASKS, MinigridDomain
from spca_programs.minigrid.policies import example


def pretend(trial: Trial, runs: Path) -> TrialRow:
    """A trial that takes twice the shortest way, and fails on odd seeds of one level."""
    good = not (trial.seed % 2 and "GoToDoor" in trial.level.name)
    return TrialRow(
        level=trial.level.name,
        category=trial.level.category,
        seed=trial.seed,
        mission="go",
        ended=Ended(ending=Ending.SUCCESS if good else Ending.STUCK, why="" if good else "it stood <still>"),
        reward=float(good),
        primitives=10,
        rounds=1,
        plan_steps=1,
        planner={"fresh": 1},
        coder={"first": 0},
        stage_seconds={"plan": 0.5},
        seconds=1.0,
    )


def never(trial: Trial, runs: Path) -> TrialRow:
    raise AssertionError("this has been run before")


def test_bench_is_resumed_summed_up_and_reported(tmp_path: Path) -> None:
    bench = MinigridBench(levels="MiniGrid-Empty-5x5,MiniGrid-GoToDoor-5x5", seeds=2)
    rows = run_minigrid(bench, tmp_path / "bench", pretend, workers=1)
    assert [(r.level, r.seed, r.success) for r in rows] == [
        ("MiniGrid-Empty-5x5", 0, True),
        ("MiniGrid-Empty-5x5", 1, True),
        ("MiniGrid-GoToDoor-5x5", 0, True),
        ("MiniGrid-GoToDoor-5x5", 1, False),
    ]
    assert run_minigrid(bench, tmp_path / "bench", never, workers=1) == rows
    summary = summarise(rows)
    assert summary.overall.rate == 0.75 and summary.nine is not None and summary.nine.trials == 4
    assert summary.overall.endings == {"success": 3, "stuck": 1}
    assert summary.in_view_ratios[:2] == (2.0, 2.0)  # Empty-5x5 takes 5
    page = write_report(bench, summary, rows, tmp_path / "bench").read_text()
    assert "76 of 102" in page and "it stood &lt;still&gt;" in page and "<svg" in page and "18/19" in page


def test_a_bench_takes_up_only_its_own_folder(tmp_path: Path) -> None:
    run_minigrid(MinigridBench(levels="MiniGrid-Empty-5x5", seeds=1), tmp_path / "b", pretend, workers=1)
    with pytest.raises(InputError, match=r"holds another campaign \(seeds differ\)"):
        run_minigrid(MinigridBench(levels="MiniGrid-Empty-5x5", seeds=2), tmp_path / "b", pretend, workers=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty and holds no campaign"):
        run_minigrid(MinigridBench(seeds=1), tmp_path / "full", pretend, workers=1)


def test_a_line_cut_off_by_a_kill_is_done_again(tmp_path: Path) -> None:
    bench = MinigridBench(levels="MiniGrid-Empty-5x5,MiniGrid-Empty-6x6", seeds=1)
    rows = run_minigrid(bench, tmp_path, pretend, workers=1)
    results = tmp_path / "results.jsonl"
    results.write_text(results.read_text()[:-20])
    done: list[str] = []

    def note(row: TrialRow, number: int, total: int) -> None:
        done.append(f"{row.level} {number}/{total}")

    assert run_minigrid(bench, tmp_path, pretend, workers=1, on_row=note) == rows
    assert done == ["MiniGrid-Empty-5x5 1/2", "MiniGrid-Empty-6x6 2/2"]
    assert len(results.read_text().splitlines()) == 2


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


def test_references_are_told_only_where_nothing_moves() -> None:
    bench = MinigridBench()
    moving = Trial(level=find_level("MiniGrid-Dynamic-Obstacles-5x5"), seed=0, bench=bench)
    still = Trial(level=find_level("MiniGrid-Empty-5x5"), seed=0, bench=bench)
    assert reference(moving).steps is None
    assert reference(still).steps == 5 and reference(still).in_view


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
