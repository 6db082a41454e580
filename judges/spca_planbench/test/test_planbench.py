"""What a scripted model writes is judged, refused and repaired; small files stand in for the two sets."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.campaign import read_campaign
from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.campaigns.report import write_report
from spca_core.errors import InputError
from spca_planbench.commands import PLANBENCH, PLANETARIUM
from spca_planbench.planbench import Language
from spca_planbench.planetarium import descriptions
from spca_planbench.scenes import same, scenes_of
from spca_planner.pddl.sexpr import PddlError
from spca_testing.models.behaviours import Behaviour, Say
from spca_testing.models.server import ModelServer, Seen

BLOCKS = """(define (domain blocksworld) (:requirements :strips)
  (:predicates (clear ?x) (on-table ?x) (arm-empty) (holding ?x) (on ?x ?y))
  (:action pickup :parameters (?ob) :precondition (and (clear ?ob) (on-table ?ob) (arm-empty))
    :effect (and (holding ?ob) (not (clear ?ob)) (not (on-table ?ob)) (not (arm-empty))))
  (:action stack :parameters (?ob ?under) :precondition (and (clear ?under) (holding ?ob))
    :effect (and (arm-empty) (clear ?ob) (on ?ob ?under) (not (clear ?under)) (not (holding ?ob)))))"""
FLAT = "(arm-empty) (on-table a) (on-table b) (clear a) (clear b)"


def problem(init: str, goal: str, objects: str = "a b") -> str:
    return (
        f"(define (problem p) (:domain blocksworld) (:objects {objects}) (:init {init}) (:goal (and {goal})))"
    )


def llm_file(folder: Path, server: ModelServer) -> str:
    role = {"model": "test-model", "base_url": server.base_url, "attempts": 1}
    (folder / "llm.yaml").write_text(json.dumps({"roles": {"coder": role}}))
    return str(folder / "llm.yaml")


def test_a_description_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "llm_planning_analysis" / "configs"
    folder.mkdir(parents=True)
    (folder / "blocksworld.yaml").write_text("domain_file: [1]")
    with pytest.raises(InputError, match=r"blocksworld\.yaml"):
        Language.of(tmp_path, "blocksworld")


@pytest.mark.parametrize(
    ("domain", "init", "goal", "objects", "expected", "apart"),
    [
        ("blocksworld", FLAT, "(on a b) (on-table b) (clear a) (arm-empty)", "a b", True, True),
        ("blocksworld", FLAT, "(on a b)", "a b", True, True),
        ("blocksworld", FLAT, "(on b a)", "a b", True, True),
        ("blocksworld", FLAT, "(on-table a)", "a b", False, False),
        ("blocksworld", FLAT.replace("(clear a)", ""), "(on a b)", "a b", False, False),
        ("blocksworld", FLAT, "(on b a)", "b a", True, True),
        ("blocksworld", f"{FLAT} (on-table c) (clear c)", "(on a b)", "a b c", False, False),
        ("gripper", FLAT, "(on a b)", "a b", True, True),
    ],
)
def test_problems_are_the_same_but_for_names_and_what_goes_without_saying(
    domain: str, init: str, goal: str, objects: str, expected: bool, apart: bool
) -> None:
    gold, other = scenes_of(problem(FLAT, "(on a b)")), scenes_of(problem(init, goal, objects))
    assert same(gold, other, domain, False) is expected
    assert same(gold, other, domain, True) is apart


def test_which_thing_of_the_start_ends_where_matters_unless_the_text_leaves_it_open() -> None:
    start = "(arm-empty) (on a b) (on-table b) (clear a)"
    gold, turned = (scenes_of(problem(start, goal)) for goal in ("(on a b)", "(on b a)"))
    assert same(gold, turned, "blocksworld", True) and not same(gold, turned, "blocksworld", False)


def test_a_gripper_is_free_where_every_ball_is_placed() -> None:
    init = "(room r) (ball b) (gripper g) (at b r) (at-robby r) (free g)"
    short, long, other = (
        scenes_of(problem(init, goal, "r b g"))
        for goal in ("(at b r)", "(at b r) (free g) (room r)", "(free g)")
    )
    assert same(short, long, "gripper", False) and not same(short, other, "gripper", False)


@pytest.mark.parametrize("goal", ["(not (clear a))", "(on a c)", "(or (clear a) (clear b))"])
def test_a_goal_that_is_no_list_of_facts_about_the_objects_is_refused(goal: str) -> None:
    with pytest.raises(PddlError):
        scenes_of(problem(FLAT, goal))


def planetarium(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "set.db")) as base, base:
        base.execute("CREATE TABLE domains (name, domain_pddl)")
        base.execute("CREATE TABLE splits (problem_id, split_type, split)")
        base.execute(
            "CREATE TABLE problems (id, domain, problem_pddl, natural_language, is_placeholder, "
            "init_is_abstract, goal_is_abstract)"
        )
        base.execute("INSERT INTO domains VALUES ('blocksworld', ?)", (BLOCKS,))
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


def test_a_file_that_is_no_data_set_is_named(tmp_path: Path) -> None:
    (tmp_path / "set.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    for name in ("set.db", "none.db"):
        with pytest.raises(InputError, match=name):
            descriptions(tmp_path / name)


def test_planetarium_counts_what_is_parseable_solvable_and_correct_before_and_after_repair(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="not the database"):
        PLANETARIUM.options(data=Path(__file__)).prepare(tmp_path)
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


TWICE = (
    "[PLAN]\npick up the red block\nstack the red block on the blue block\n[PLAN END]\nPick up red, that is."
)
CONFIGURATION = """
instance_dir: blocks/some
domain_file: blocks/domain.pddl
actions: {pickup: "pick up the {}", stack: "stack the {} on top of the {}"}
predicates: {clear: "the {} is clear", arm-empty: "the hand is empty", holding: "the hand is holding {}"}
encoded_objects: {a: red block, b: blue block}
"""


def planbench(folder: Path) -> Path:
    analysis, prompts = folder / "llm_planning_analysis", folder / "plan-bench" / "prompts" / "blocks"
    for place in (analysis / "configs", analysis / "instances" / "blocks" / "some", prompts):
        place.mkdir(parents=True)
    (analysis / "configs" / "blocks.yaml").write_text(CONFIGURATION)
    (analysis / "instances" / "blocks" / "domain.pddl").write_text(BLOCKS)
    for number in (2, 3):
        path = analysis / "instances" / "blocks" / "some" / f"instance-{number}.pddl"
        path.write_text(problem(FLAT, "(on a b)"))
    (prompts / "task_1_plan_generation.json").write_text(
        json.dumps({"instances": [{"instance_id": 2, "query": "red onto blue"}]})
    )
    results = analysis / "results" / "blocks" / "some-model"
    results.mkdir(parents=True)
    answers = [("(pickup a)\n(stack a b)", True), ("(pickup a)", True), ("(pick up a)", False), ("", False)]
    instances = [
        {"instance_id": 3, "extracted_llm_plan": plan, "llm_correct": correct, "llm_raw_response": TWICE}
        for plan, correct in answers
    ]
    (results / "task_1_plan_generation_zero_shot.json").write_text(json.dumps({"instances": instances}))
    return folder


def planner(seen: Seen) -> Behaviour:
    if "“the hand is empty”" in seen.text:
        return Say(
            "My plan:\n[PLAN]\n1. **Pick up** the red block.\n2. Stack red onto the blue block\n[PLAN END]"
        )
    return Say("pick up the blue block\nnow pick up red")


def test_planbench_judges_published_plans_again_and_asks_for_new_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no answers"):
        PLANBENCH.options(repository=tmp_path).prepare(tmp_path)
    published = PLANBENCH.options(repository=planbench(tmp_path / "set"))
    (done,) = run_campaign(published, tmp_path / "published", workers=1).done
    assert published.table([done]).shown() == [
        ["blocks", "all published", "4", "3", "2", "1", "4.6–69.9 %", "2", "1", "4"]
    ]
    assert done.result.differ[0].startswith("3: after the last step")
    write_report(read_campaign(published, tmp_path / "published"))
    page = (tmp_path / "published" / "index.html").read_text()
    assert all(word in page for word in ("some-model", "zero shot", "3: after the last step"))
    with ModelServer(planner) as server:
        bench = published.model_copy(update={"llm": llm_file(tmp_path, server), "domains": ("blocks",)})
        campaign = run_campaign(bench, tmp_path / "c", workers=1)
    row = ["blocks", "the model asked", "1", "1", "0", "0", "0.0–79.3 %", "1 / 1 / 1", "2"]
    assert bench.table(campaign.done).shown()[0] == row
    with pytest.raises(InputError, match="no questions in words for 'moon'"):
        bench.model_copy(update={"domains": ("moon",)}).prepare(tmp_path)
