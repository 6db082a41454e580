"""MiniGrid tasks for programs that plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca_core.errors import InputError
from spca_programs.ipp.bench import IppBench
from spca_programs.ipp.program import Program, ProgramRunner
from spca_programs.minigrid.domain import TASKS, MinigridDomain
from spca_programs.minigrid.policies import example


@pytest.mark.parametrize("task", TASKS)
def test_the_example_program_completes_every_world(task: str) -> None:
    domain = MinigridDomain(task)
    _, cases = domain.split(0, 40, 0)
    program = Program(source=Path(example.__file__).read_text())
    with ProgramRunner() as runner:
        evaluation = runner.evaluate(program, domain, cases)
    assert evaluation.completion == 1 and evaluation.problems == 0
    assert 0.9 < evaluation.mean <= evaluation.reference + 1e-9


@pytest.mark.parametrize("task", TASKS)
def test_greedy_goes_straight_and_beats_chance(task: str) -> None:
    """Where a wall stands in its way it gives up; its plans are judged as any other."""
    domain = MinigridDomain(task)
    _, cases = domain.split(0, 8, 0)
    completed = {}
    for name in ("random", "greedy"):
        answers = domain.baseline(name, cases, 0)
        judged = [domain.judge(case, answer.plan) for case, answer in zip(cases, answers, strict=True)]
        completed[name] = sum(one.completed for one in judged)
        assert all(
            one.score <= domain.reference(case) + 1e-9 for one, case in zip(judged, cases, strict=True)
        )
    assert completed["random"] < completed["greedy"] <= len(cases)


def test_a_policy_that_no_task_has_is_one_clear_line(tmp_path: Path) -> None:
    bench = IppBench(tasks=("minigrid-unlock",), programs=("exact",))
    with pytest.raises(InputError, match="no policy 'exact' for minigrid-unlock"):
        bench.prepare(tmp_path)


def test_minigrid_tasks_tell_what_happened() -> None:
    domain = MinigridDomain("minigrid-unlock")
    [case], [other] = domain.split(1, 1, 0)
    assert case.seed != other.seed
    judged = domain.judge(case, ["LEFT", "MOVE", "DANCE", *["LEFT"] * 400])
    assert judged.score == 0 and not judged.completed
    assert judged.trace[2] == "3. DANCE: no such action" and "the aim is not reached" in judged.trace[-1]
    assert "holds nothing" in domain.after(case, ["LEFT"]) and domain.reference(case) > 0.9
