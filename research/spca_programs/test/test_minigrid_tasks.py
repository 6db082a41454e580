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
    _, cases = domain.split(0, 40, 0)
    program = Program(source=Path(example.__file__).read_text())
    with ProgramRunner() as runner:
        evaluation = runner.evaluate(program, domain, cases)
    assert evaluation.completion == 1 and evaluation.problems == 0
    assert 0.9 < evaluation.mean <= evaluation.reference + 1e-9


@pytest.mark.parametrize("task", TASKS)
def test_greedy_has_the_published_reward_and_chance_none(task: str) -> None:
    """On 60 worlds; where dropping the key goes wrong it fails, as published."""
    domain = MinigridDomain(task)
    _, cases = domain.split(0, 60, 0)
    name = {"minigrid-unlock": "Unlock", "minigrid-doorkey": "Door-Key"}.get(task, "Unlock-Pickup")
    found = {}
    for policy in ("random", "greedy"):
        answers = domain.baseline(policy, cases, 0)
        judged = [domain.judge(case, answer.plan) for case, answer in zip(cases, answers, strict=True)]
        found[policy] = sum(one.score for one in judged) / len(judged)
        assert all(
            one.score <= domain.reference(case) + 1e-9 for one, case in zip(judged, cases, strict=True)
        )
    for policy, known in found.items():
        assert known == pytest.approx(published("IPP", "Table 3", name, policy.capitalize()), abs=0.1)


def test_minigrid_tasks_tell_what_happened() -> None:
    domain = MinigridDomain("minigrid-unlock")
    [case], [other] = domain.split(1, 1, 0)
    assert case.seed != other.seed
    judged = domain.judge(case, ["LEFT", "MOVE", "DANCE", *["LEFT"] * 400])
    assert judged.score == 0 and not judged.completed
    assert judged.trace[2] == "3. DANCE: no such action" and "the aim is not reached" in judged.trace[-1]
    assert "holds nothing" in domain.after(case, ["LEFT"]) and domain.reference(case) > 0.9
