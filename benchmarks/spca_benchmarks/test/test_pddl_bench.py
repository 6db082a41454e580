"""The PDDL bench.

Its references are right, every kind of failed draft is recognised, and runs resume and replay.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.campaign import StoredCampaign
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.pddl.bench import PddlBench
from spca_benchmarks.pddl.judge import judge, why_wrong
from spca_benchmarks.pddl.tasks import PddlTask, load_tasks, task_names
from spca_benchmarks.pddl.trial import PddlResult
from spca_core.errors import InputError
from spca_core.plan import Draft
from spca_planner.pddl.lint import parse
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import SolverProcess
from spca_testing.models.behaviours import Behaviour, Say, Status, say_json
from spca_testing.models.server import ModelServer, Seen

DOMAINS = "blocksworld gripper depot driverlog satellite rovers tyreworld storage logistics termes floortile"


@pytest.fixture(scope="module")
def solver() -> Iterator[SolverProcess]:
    with SolverProcess() as process:
        yield process


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def task(name: str) -> PddlTask:
    return load_tasks([name])[0]


# --- the references -----------------------------------------------------------------------------------------


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


# --- judging ------------------------------------------------------------------------------------------------

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
    ("draft", "status", "words"),
    [
        (gripper(), "solved", ""),
        (CHEAT, "wrong", "precondition"),
        (RENAMED, "wrong", "no action 'grab'"),
        (EMPTY, "empty", "empty"),
        (UNSOLVABLE, "unsolvable", "nothing can make (lies_in ball1 garage) true"),
        (TYPO, "syntax", "did you mean 'robot_in'"),
    ],
)
def test_fates_are_told_apart(draft: Draft, status: str, words: str, solver: SolverProcess) -> None:
    judged = judge(draft, GRIPPER, solver, timeout_s=10)
    assert judged.status == status, judged.message
    assert words in judged.message


# --- whole benches ------------------------------------------------------------------------------------------


def answer(draft: Draft, **options: object) -> Say:
    return say_json({"domain": draft.domain, "problem": draft.problem}, **options)


def bench(
    script: list[Behaviour], folder: Path, **options: object
) -> tuple[list[PddlResult], StoredCampaign, list[Seen]]:
    with ModelServer(script) as server:
        configure(folder, server)
        settings = settings_of(folder, **options)
        campaign = run_campaign(settings, folder / "bench", workers=1)
        return [d.result for d in campaign.done], campaign, server.requests


def settings_of(folder: Path, **options: object) -> PddlBench:
    values = {
        "tasks": ("gripper",),
        "attempts": 4,
        "trials_each": 1,
        "timeout_s": 10,
        "llm": str(folder / "llm.yaml"),
    }
    return PddlBench.model_validate({**values, **options})


def configure(folder: Path, server: ModelServer) -> None:
    (folder / "llm.yaml").write_text(
        f"defaults: {{base_url: '{server.base_url}', attempts: 2, wait_s: 0.01}}\n"
        f"roles: {{planner_big: {{model: test-model}}}}\n"
    )


def test_a_model_repairs_its_draft_by_what_the_critics_say(tmp_path: Path) -> None:
    script = [answer(TYPO), Say("Sure! Here it is."), answer(UNSOLVABLE), answer(gripper(), usage=(100, 50))]
    [result], campaign, requests = bench(script, tmp_path)
    assert not campaign.stopped and not campaign.broken
    assert [a.judged.status for a in result.attempts] == ["syntax", "no_answer", "unsolvable", "solved"]
    assert result.solved_at == 4
    assert "nothing can make (lies_in ball1 garage) true" in requests[3].text
    assert result.used.calls == 4  # the unusable answer's tokens count as well
    [row] = campaign.bench.table(campaign.done).shown()
    assert row[2:5] == ["0 %", "0 %", "100 %"]  # solved@1, 2, 4


def test_the_reference_is_never_told(tmp_path: Path) -> None:
    """A plan that fails in the reference ends the trial; a looser bench would have counted it."""
    [result], _, requests = bench([answer(CHEAT), answer(gripper())], tmp_path)
    assert (result.status, result.solved_at, result.accepted_at, len(requests)) == ("wrong", None, 1, 1)


def test_a_server_that_fails_breaks_the_trial_and_says_nothing_of_the_model(tmp_path: Path) -> None:
    results, campaign, _ = bench([answer(TYPO), Status(500), Status(500)], tmp_path)
    assert results == [] and list(campaign.broken) == ["test-model/gripper/p1/1"]
    with ModelServer([answer(gripper())]) as server:
        configure(tmp_path, server)
        campaign = run_campaign(settings_of(tmp_path), tmp_path / "bench", workers=1)
    assert not campaign.broken and campaign.done[0].result.solved_at == 1
