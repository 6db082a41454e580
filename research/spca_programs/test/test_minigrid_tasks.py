"""MiniGrid tasks for programs that plan."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_minigrid_tasks_tell_what_happened() -> None:
    domain = MinigridDomain("minigrid-unlock")
    [case], [other] = domain.split(1, 1, 0)
    assert case.seed != other.seed
    judged = domain.judge(case, ["LEFT", "MOVE", "DANCE", *["LEFT"] * 400])
    assert judged.score == 0 and not judged.completed
    assert judged.trace[2] == "3. DANCE: no such action" and "the aim is not reached" in judged.trace[-1]
    assert "holds nothing" in domain.after(case, ["LEFT"]) and domain.reference(case) > 0.9
