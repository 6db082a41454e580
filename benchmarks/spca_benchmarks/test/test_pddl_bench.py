"""The PDDL bench.

Its references are right, and every kind of failed draft is recognised.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.campaign import StoredCampaign
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.pddl.bench import PddlBench
from spca_benchmarks.pddl.judge import judge, why_wrong
from spca_benchmarks.pddl.tasks import PddlTask, load_tasks, task_names
from spca_core.errors import InputError
from spca_core.plan import Draft
from spca_planner.pddl.lint import parse
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import SolverProcess
from spca_testing.models.behaviours import Say, say_json
from spca_testing.models.server import ModelServer, Seen

DOMAINS = "blocksworld gripper depot driverlog satellite rovers tyreworld storage logistics termes floortile"


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    with SolverProcess() as process:
        yield process


def task(name: str) -> PddlTask:
    return load_tasks([name])[0]


def test_every_domain_of_the_published_bench_is_there() -> None:
    assert {name.partition("/")[0] for name in task_names()} == {*DOMAINS.split()}
    with pytest.raises(InputError, match=r"unknown domain 'chess'.*blocksworld"):
        load_tasks(["chess"])


@pytest.mark.parametrize("name", task_names())
def test_a_reference_can_be_solved_and_needs_work(name: str, solver: SolverProcess) -> None:
    reference = task(name)
    answer = solver.judge(Case(domain=reference.domain, problem=reference.problem, timeout_s=30))
    assert answer.critic == "", answer.message
    assert len(answer.steps) >= 8
    assert why_wrong(reference, answer.steps) == ""
    # …and every step counts: a plan that lacks its first one is no plan any more
    assert why_wrong(reference, answer.steps[1:])
    domain, problem = parse(reference.domain, reference.problem)
    prose, _, names = reference.description.partition("Names to be used")
    assert all(action in prose and f"({action}" in names for action in domain.actions)
    assert all(thing.name in names for thing in problem.objects)
    assert "(:" not in reference.description and "define" not in reference.description


GRIPPER = task("gripper")


def gripper(domain: tuple[str, str] = ("", ""), problem: tuple[str, str] = ("", "")) -> Draft:
    """The reference with one text replaced by another."""
    changed = []
    for text, (old, new) in ((GRIPPER.domain, domain), (GRIPPER.problem, problem)):
        assert old in text
        changed.append(text.replace(old, new) if old else text)
    return Draft(domain=changed[0], problem=changed[1])


# Both of a robot's hands may hold any number of balls: easier than the world that was described.
CHEAT = gripper(domain=(" (not (free ?hand))", ""))
EMPTY = gripper(
    problem=(
        "(lies_in ball3 kitchen) (lies_in ball4 garage))",
        "(lies_in ball3 kitchen) (lies_in ball1 garage) (lies_in ball2 garage) (lies_in ball3 garage) "
        "(lies_in ball4 kitchen))",
    )
)
UNSOLVABLE = gripper(problem=("(free left_hand) (free right_hand)", ""))
TYPO = gripper(domain=("(robot_in ?from)\n", "(robot_inn ?from)\n"))
RENAMED = gripper(domain=(":action pick", ":action grab"))


@pytest.mark.parametrize(
    ("draft", "status", "words"), [(RENAMED, "wrong", "no action 'grab'"), (EMPTY, "empty", "empty")]
)
def test_fates_are_told_apart(draft: Draft, status: str, words: str, solver: SolverProcess) -> None:
    judged = judge(draft, GRIPPER, solver, timeout_s=10)
    assert judged.status == status, judged.message
    assert words in judged.message


def answer(draft: Draft) -> Say:
    return say_json({"domain": draft.domain, "problem": draft.problem})


def bench(script: list[Say], folder: Path) -> tuple[StoredCampaign, list[Seen]]:
    with ModelServer(script) as server:
        model = {"model": "test-model", "base_url": server.base_url, "attempts": 1}
        (folder / "llm.yaml").write_text(json.dumps({"roles": {"planner_big": model}}))
        settings = {"attempts": 4, "trials_each": 1, "timeout_s": 10, "llm": str(folder / "llm.yaml")}
        return run_campaign(
            PddlBench(tasks=("gripper",), **settings), folder / "bench", workers=1
        ), server.requests


def test_a_model_repairs_its_draft_by_what_the_critics_say(tmp_path: Path) -> None:
    script = [answer(TYPO), Say("Sure! Here it is."), answer(UNSOLVABLE), answer(gripper())]
    campaign, requests = bench(script, tmp_path)
    [result] = [d.result for d in campaign.done]
    assert [a.judged.status for a in result.attempts] == ["syntax", "no_answer", "unsolvable", "solved"]
    assert result.solved_at == 4
    assert "nothing can make (lies_in ball1 garage) true" in requests[3].text
    assert result.used.calls == 4  # the unusable answer's tokens count as well
    [row] = campaign.bench.table(campaign.done).shown()
    assert row[2:5] == ["0 %", "0 %", "100 %"]  # solved@1, 2, 4


def test_the_reference_is_never_told(tmp_path: Path) -> None:
    """A plan that fails in the reference ends the trial; a looser bench would have counted it."""
    campaign, requests = bench([answer(CHEAT), answer(gripper())], tmp_path)
    [result] = [d.result for d in campaign.done]
    assert (result.status, result.solved_at, result.accepted_at, len(requests)) == ("wrong", None, 1, 1)
