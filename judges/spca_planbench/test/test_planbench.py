"""What a scripted model writes is judged, refused and repaired; small files stand in for the two sets."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.engine import run_campaign
from spca_core.errors import InputError
from spca_planbench.commands import PLANBENCH, PLANETARIUM
from spca_planbench.scenes import same, scenes_of
from spca_planner.pddl.sexpr import PddlError
from spca_testing.models.behaviours import Behaviour, Say
from spca_testing.models.server import ModelServer, Seen

SET = Path(__file__).with_name("data")
"""PlanBench's layout with one domain, a question, and four answers of a model."""
FLAT = "(arm-empty) (on-table a) (on-table b) (clear a) (clear b)"


def problem(init: str, goal: str, objects: str = "a b") -> str:
    return (
        f"(define (problem p) (:domain blocksworld) (:objects {objects}) (:init {init}) (:goal (and {goal})))"
    )


def llm_file(folder: Path, server: ModelServer) -> str:
    role = {"model": "test-model", "base_url": server.base_url, "attempts": 1}
    (folder / "llm.yaml").write_text(json.dumps({"roles": {"coder": role}}))
    return str(folder / "llm.yaml")


@pytest.mark.parametrize(
    ("init", "goal", "objects", "expected"),
    [
        (FLAT, "(on a b) (on-table b) (clear a) (arm-empty)", "a b", True),
        (FLAT, "(on-table a)", "a b", False),
        (FLAT, "(on b a)", "b a", True),
        (f"{FLAT} (on-table c) (clear c)", "(on a b)", "a b c", False),
    ],
)
def test_problems_are_the_same_but_for_names_and_what_goes_without_saying(
    init: str, goal: str, objects: str, expected: bool
) -> None:
    gold, other = scenes_of(problem(FLAT, "(on a b)")), scenes_of(problem(init, goal, objects))
    assert same(gold, other, "blocksworld", False) is expected


def test_which_thing_of_the_start_ends_where_matters_unless_the_text_leaves_it_open() -> None:
    start = "(arm-empty) (on a b) (on-table b) (clear a)"
    gold, turned = (scenes_of(problem(start, goal)) for goal in ("(on a b)", "(on b a)"))
    assert same(gold, turned, "blocksworld", True) and not same(gold, turned, "blocksworld", False)


@pytest.mark.parametrize("goal", ["(not (clear a))", "(on a c)", "(or (clear a) (clear b))"])
def test_a_goal_that_is_no_list_of_facts_about_the_objects_is_refused(goal: str) -> None:
    with pytest.raises(PddlError):
        scenes_of(problem(FLAT, goal))


def planetarium(folder: Path) -> Path:
    domain = (SET / "llm_planning_analysis" / "instances" / "blocks" / "domain.pddl").read_text()
    with closing(sqlite3.connect(folder / "set.db")) as base, base:
        base.execute("CREATE TABLE domains (name, domain_pddl)")
        base.execute("CREATE TABLE splits (problem_id, split_type, split)")
        base.execute(
            "CREATE TABLE problems (id, domain, problem_pddl, natural_language, is_placeholder, "
            "init_is_abstract, goal_is_abstract)"
        )
        base.execute("INSERT INTO domains VALUES ('blocksworld', ?)", (domain,))
        for number, text in enumerate(("repaired", "wrong", "never")):
            base.execute("INSERT INTO splits VALUES (?, 'random', '4')", (number,))
            row = (number, "blocksworld", problem(FLAT, "(on a b)"), f"two blocks, {text}", 0, 0, 1)
            base.execute("INSERT INTO problems VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return folder / "set.db"


def drafter(seen: Seen) -> Behaviour:
    """Repairs the first, is solvable but wrong in the second, and gives up at the third."""
    assert "(on a b)" not in seen.body["messages"][1]["content"], "the answer is no part of the question"
    if "never" in seen.text:
        return Say("I cannot.")
    if "wrong" in seen.text:
        return Say(problem(FLAT, "(clear a)"))
    goal = "(on x y)" if "not a declared predicate" in seen.text else "(upon x y)"
    draft = problem(FLAT.replace("a)", "x)").replace("b)", "y)"), goal, "x y")
    return Say(f"Here it is:\n```pddl\n{draft}\n```\nDone.")


def test_planetarium_counts_what_is_parseable_solvable_and_correct_before_and_after_repair(
    tmp_path: Path,
) -> None:
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    with pytest.raises(InputError, match=r"other\.db"):
        PLANETARIUM.options(data=tmp_path / "other.db").prepare(tmp_path)
    with ModelServer(drafter) as server:
        bench = PLANETARIUM.options(data=planetarium(tmp_path), llm=llm_file(tmp_path, server), rounds=1)
        campaign = run_campaign(bench, tmp_path / "c", workers=1)
    assert not campaign.broken
    table = bench.table(campaign.done)
    assert table.shown() == [
        [*names, "3", "2", "1", "0", "0.0–56.1 %", "2 / 2 / 1", "5"]
        for names in (("blocksworld", "explicit to abstract"), ("all asked", ""))
    ]
    replay = bench.model_copy(update={"llm": f"replay:{tmp_path / 'c'}"})
    assert replay.table(run_campaign(replay, tmp_path / "again", workers=1).done) == table


def planner(seen: Seen) -> Behaviour:
    if "“the hand is empty”" in seen.text:
        return Say(
            "My plan:\n[PLAN]\n1. **Pick up** the red block.\n2. Stack red onto the blue block\n[PLAN END]"
        )
    return Say("pick up the blue block\nnow pick up red")


def test_planbench_judges_published_plans_again_and_asks_for_new_ones(tmp_path: Path) -> None:
    published = PLANBENCH.options(repository=SET)
    (done,) = run_campaign(published, tmp_path / "published", workers=1).done
    assert published.table([done]).shown() == [
        ["blocks", "all published", "4", "3", "2", "1", "4.6–69.9 %", "2", "1", "4"]
    ]
    assert done.result.differ[0].startswith("3: after the last step")
    with ModelServer(planner) as server:
        bench = published.model_copy(update={"llm": llm_file(tmp_path, server), "domains": ("blocks",)})
        campaign = run_campaign(bench, tmp_path / "c", workers=1)
    row = ["blocks", "the model asked", "1", "1", "0", "0", "0.0–79.3 %", "1 / 1 / 1", "2"]
    assert bench.table(campaign.done).shown()[0] == row
