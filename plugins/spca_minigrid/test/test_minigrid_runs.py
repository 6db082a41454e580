"""Whole runs on MiniGrid levels: the shared planner, coder, sandbox, executor and supervisor."""

from pathlib import Path

import pytest

from spca.runs import Run
from spca_core.options import RunOptions
from spca_core.result import RunResult
from spca_core.run_folder import RunFolder
from spca_testing.models.behaviours import Behaviour, Say, say_json
from spca_testing.models.fallible_model import CODER, MODELS, configuration
from spca_testing.models.server import ModelServer, Seen


def run(level: str, seed: int, folder: Path, **more: object) -> RunResult:
    options = RunOptions.model_validate({"level": "minigrid:" + level, "seed": seed, **more})
    return Run(options, RunFolder(folder)).advance()


# What needs exploring, order, keys, boxes and several rounds.
RUNS = [
    ("MiniGrid-MultiRoom-N6", 1),
    ("MiniGrid-LavaCrossingS9N2", 3),
    ("MiniGrid-MemoryS13Random", 2),
    ("BabyAI-GoToSeqS5R2", 1),
    ("BabyAI-KeyInBox", 1),
    ("MiniGrid-ObstructedMaze-2Dlhb", 1),
    ("BabyAI-PutNextS5N2Carrying", 2),
    ("MiniGrid-Dynamic-Obstacles-6x6", 0),
]


@pytest.mark.parametrize(("level", "seed"), RUNS, ids=str)
def test_builtin_solves(level: str, seed: int, tmp_path: Path) -> None:
    result = run(level, seed, tmp_path)
    assert result.success, result.reason
    assert result.rounds == (
        2 if "Carrying" in level else 1
    )  # there, the level does not count the very first drop


PDDL = """(define (domain squares)
  (:requirements :strips :typing)
  (:types square)
  (:predicates (located ?s - square) (reached ?s - square))
  (:action enter :parameters (?s - square) :precondition (located ?s) :effect (reached ?s)))"""
PROBLEM = """(define (problem go) (:domain squares) (:objects green_goal - square)
  (:init (located green_goal)) (:goal (reached green_goal)))"""
ENTER = '''def enter(ctx, s):
    """Walk onto a goal square that is in view."""
    while not ctx.look().over:
        for primitive in ctx.route_to(s, onto=True).steps:
            yield primitive
'''
INTO_THE_WALL = '''def enter(ctx, s):
    """Walk ahead, come what may."""
    yield LEFT
    while not ctx.look().over:
        yield FORWARD
'''


def test_a_model_learns_from_nothing_and_reuses_what_it_learned(tmp_path: Path) -> None:
    """Each critic sends something back once: the parser, the static checks, the world.

    The second run needs no code.
    """
    drafts = iter([say_json({"domain": PDDL[:-1], "problem": PROBLEM, "remark": ""})])
    sources = iter([ENTER.replace("ctx.route_to", "ctx.fly_to"), INTO_THE_WALL])
    good = say_json({"domain": PDDL, "problem": PROBLEM, "remark": ""})
    same_domain = say_json({"problem": PROBLEM, "remark": ""})

    def script(seen: Seen) -> Behaviour:
        if seen.body["model"] == CODER:
            return Say(f"```python\n{next(sources, ENTER)}```")
        asked = seen.body["response_format"]["json_schema"]["schema"]["properties"]
        return next(drafts, good) if "domain" in asked else same_domain

    with ModelServer(script, models=MODELS) as server:
        (tmp_path / "llm.yaml").write_text(configuration(server.base_url))
        options = {
            "proposer": "openai",
            "llm": str(tmp_path / "llm.yaml"),
            "skills": "empty",
            "library": str(tmp_path / "library"),
        }
        first = run("MiniGrid-Empty-5x5", 0, tmp_path / "first", **options)
        asked = [seen.text for seen in server.requests]
        second = run("MiniGrid-Empty-6x6", 0, tmp_path / "second", **options)

    assert first.success, first.reason
    assert (first.planner.fresh, first.planner.syntax) == (1, 1)
    assert (first.coder.first, first.coder.syntax, first.coder.semantic) == (1, 1, 1)
    assert first.skills.promoted == ("enter",)
    assert any("fly_to" in text and "it has: step, look, locate" in text for text in asked)
    assert any("stuck: the last 12 primitives changed nothing" in text for text in asked)
    assert first.verdict.stamp == 5  # the world had been put back to where the plan began
    assert second.success, second.reason
    assert (second.planner.reuse, second.planner.fresh, sum(second.coder.model_dump().values())) == (1, 0, 0)
    assert second.usage["planner_small"].calls == 1
