"""The PDDL bench.

Its references are right, every kind of failed draft is recognised, and runs resume and replay.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.campaign import StoredCampaign
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.campaigns.report import write_report
from spca_benchmarks.pddl.bench import PddlBench
from spca_benchmarks.pddl.judge import judge, why_wrong
from spca_benchmarks.pddl.tasks import PddlTask, load_tasks, task_names
from spca_benchmarks.pddl.trial import PddlResult
from spca_core.errors import InputError
from spca_core.plan import Draft
from spca_planner.pddl.lint import parse
from spca_planner.solver.judgement import Case
from spca_planner.solver.process import SolverProcess
from spca_testing.models.behaviours import Behaviour, Raw, Say, Status, refuse, say_json
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


@pytest.mark.parametrize("name", task_names())
def test_a_description_names_all_that_a_plan_needs_and_shows_no_pddl(name: str) -> None:
    reference = task(name)
    domain, problem = parse(reference.domain, reference.problem)
    prose, _, names = reference.description.partition("Names to be used")
    for action in domain.actions.values():
        assert f"({action.name}" in names
        assert action.name in prose, f"{action.name} is not explained"
    for thing in problem.objects:
        assert thing.name in names
    assert "(:" not in reference.description
    assert "define" not in reference.description


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
OPEN = gripper(domain=(":effect (and (lies_in ?ball ?room)", ":effect ((and (lies_in ?ball ?room)"))
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
        (OPEN, "syntax", ""),
        (Draft(domain="", problem=""), "syntax", "empty"),
    ],
)
def test_fates_are_told_apart(draft: Draft, status: str, words: str, solver: SolverProcess) -> None:
    judged = judge(draft, GRIPPER, solver, timeout_s=10)
    assert judged.status == status, judged.message
    assert words in judged.message


def test_another_model_of_the_same_world_is_as_good(solver: SolverProcess) -> None:
    """Predicates, types and their arguments are the model's own affair."""
    renamed = {"robot_in": "here", "lies_in": "ball_at", "free": "empty", "holds": "in_hand", "room": "place"}
    words = re.compile(r"\b(" + "|".join(renamed) + r")\b")
    domain, problem = (words.sub(lambda m: renamed[m[1]], t) for t in (GRIPPER.domain, GRIPPER.problem))
    draft = Draft(domain=domain, problem=problem)
    assert "lies_in" not in draft.domain
    assert judge(draft, GRIPPER, solver, timeout_s=10).status == "solved"


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


def configure(folder: Path, server: ModelServer, budget: str = "{}") -> None:
    (folder / "llm.yaml").write_text(
        f"defaults: {{base_url: '{server.base_url}', attempts: 2, wait_s: 0.01}}\n"
        f"roles: {{planner_big: {{model: test-model}}}}\nbudget: {budget}\n"
    )


def test_a_model_repairs_its_draft_by_what_the_critics_say(tmp_path: Path) -> None:
    script = [answer(TYPO), Say("Sure! Here it is."), answer(UNSOLVABLE), answer(gripper(), usage=(100, 50))]
    [result], campaign, requests = bench(script, tmp_path)
    assert not campaign.stopped and not campaign.broken
    assert [a.judged.status for a in result.attempts] == ["syntax", "no_answer", "unsolvable", "solved"]
    assert result.solved_at == 4
    assert "robot_inn" not in requests[0].text
    assert "did you mean 'robot_in'" in requests[1].text
    assert "did you mean 'robot_in'" in requests[2].text  # nothing usable came between
    assert "nothing can make (lies_in ball1 garage) true" in requests[3].text
    assert result.used.calls == 4  # the unusable answer's tokens count as well
    [row] = campaign.bench.table(campaign.done).shown()
    assert row[2:5] == ["0 %", "0 %", "100 %"]  # solved@1, 2, 4


@pytest.mark.parametrize("enforces", [True, False])
def test_a_model_whose_server_enforces_no_schema_has_a_star_and_a_replay_comes_to_the_same(
    enforces: bool, tmp_path: Path
) -> None:
    with ModelServer([answer(TYPO), answer(gripper())], supports_schema=enforces) as server:
        configure(tmp_path, server)
        campaign = run_campaign(settings_of(tmp_path), tmp_path / "bench", workers=1)
    name = "test-model" if enforces else "test-model *"
    assert campaign.bench.table(campaign.done).rows[0][0] == name
    replay = settings_of(tmp_path, llm=f"replay:{tmp_path / 'bench'}")
    again = run_campaign(replay, tmp_path / "again", workers=1)
    fates = [[a.judged.status for a in d.result.attempts] for d in again.done]
    assert fates == [["syntax", "solved"]]
    table = again.bench.table(again.done)
    [row] = table.shown()
    assert (row[0], row[table.heads.index("USD")]) == (name, "0.0000")
    assert f"<th>{name}</th>" in write_report(again).read_text()


def test_the_reference_is_never_told_and_no_answer_is_a_clear_result(tmp_path: Path) -> None:
    """A plan that fails in the reference ends the trial; a looser bench would have counted it."""
    [result], _, requests = bench([answer(CHEAT), answer(gripper())], tmp_path)
    assert (result.status, result.solved_at, result.accepted_at, len(requests)) == ("wrong", None, 1, 1)
    (silent := tmp_path / "silent").mkdir()
    [result], campaign, _ = bench([refuse(), Raw(b"<html>"), Say(""), Say("no")], silent)
    assert [a.judged.status for a in result.attempts] == ["no_answer"] * 4
    assert not campaign.stopped and "refused" in result.attempts[0].judged.message


@pytest.mark.parametrize("fault", [Status(429, headers={"retry-after": "0"}), Status(500), Status(401)])
def test_a_server_that_fails_breaks_the_trial_and_says_nothing_of_the_model(
    fault: Status, tmp_path: Path
) -> None:
    results, campaign, _ = bench([answer(TYPO), fault, fault], tmp_path)
    assert results == [] and list(campaign.broken) == ["test-model/gripper/p1/1"]
    with ModelServer([answer(gripper())]) as server:
        configure(tmp_path, server)
        campaign = run_campaign(settings_of(tmp_path), tmp_path / "bench", workers=1)
    assert not campaign.broken and campaign.done[0].result.solved_at == 1


def test_a_spent_budget_ends_the_bench_and_the_rest_goes_on_later(tmp_path: Path) -> None:
    options = settings_of(tmp_path, trials_each=3)
    with ModelServer([answer(gripper(), usage=(900, 200))] * 3) as server:
        configure(tmp_path, server, budget="{tokens: 1000}")
        campaign = run_campaign(options, tmp_path / "bench", workers=1)
        assert len(campaign.done) == 1
        assert "1000 tokens" in campaign.stopped
        assert "Ended early" in write_report(campaign).read_text()
        configure(tmp_path, server)
        assert len(run_campaign(options, tmp_path / "bench", workers=1).done) == len(server.requests) == 3
