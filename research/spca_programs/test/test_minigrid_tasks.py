"""MiniGrid tasks for programs that plan."""

from pathlib import Path

import pytest

from spca_benchmarks.campaigns.published import published
from spca_programs.ipp.program import Program, ProgramRunner
from spca_programs.minigrid.domain import TASKS, MinigridDomain
from spca_programs.minigrid.policies import example


@pytest.mark.parametrize("task", TASKS)
def test_the_example_program_completes_every_world(task: str) -> None:
    domain = MinigridDomain(task)
    _, cases = domain.split(0, 15, 0)
    program = Program(source=Path(example.__file__).read_text())
    with ProgramRunner() as runner:
        evaluation = runner.evaluate(program, domain, cases)
    assert evaluation.completion == 1 and evaluation.problems == 0
    assert 0.9 < evaluation.mean <= evaluation.reference + 1e-9


@pytest.mark.parametrize("task", TASKS)
def test_greedy_has_the_published_reward_and_chance_none(task: str) -> None:
    """On 40 worlds, and on 10 of them; where dropping the key goes wrong greedy fails, as published."""
    domain = MinigridDomain(task)
    _, cases = domain.split(0, 40, 0)
    name = {"minigrid-unlock": "Unlock", "minigrid-doorkey": "Door-Key"}.get(task, "Unlock-Pickup")
    for policy, some in (("random", cases[:10]), ("greedy", cases)):
        answers = domain.baseline(policy, some, 0)
        scores = [domain.judge(case, answer.plan).score for case, answer in zip(some, answers, strict=True)]
        known = published("IPP", "Table 3", name, policy.capitalize())
        assert sum(scores) / len(scores) == pytest.approx(known, abs=0.1)
