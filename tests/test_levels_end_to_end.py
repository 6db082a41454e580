"""Whole runs in one process: real camera, planner, validators, sandbox, physics and referee."""

from __future__ import annotations

from contextlib import closing

import pytest

import spca
from spca.runs import Run
from spca_core.errors import OutOfReach
from spca_core.options import Manifest, RunOptions
from spca_core.plan import Draft, Plan, Step
from spca_core.result import Outcome
from spca_core.run_folder import MANIFEST, RunFolder
from spca_tabletop.kit import TabletopKit


def options(level: str, preset: str = "nominal", seed: int = 0) -> RunOptions:
    return RunOptions.model_validate({"level": level, "preset": preset, "seed": seed, "transport": "inproc"})


def plan(*steps: str) -> Plan:
    """A plan from texts such as `pick_up cube_red table`."""
    parsed = tuple(Step(action=s.split()[0], args=tuple(s.split()[1:])) for s in steps)
    return Plan(steps=parsed, schemas=(), draft=Draft(domain="", problem=""))


@pytest.mark.parametrize("level", ["pick_and_place_01", "arrange_01"])
def test_a_level_on_the_nominal_table_is_solved(level, tmp_path):
    result = Run(options(level), RunFolder.create(level, tmp_path / "run")).advance()
    assert result.success, result.reason
    assert result.verdict.score == 1.0


@pytest.mark.parametrize("robot", ["ur3e", "panda"])
def test_short_long_and_redundant_arms_solve_a_level_and_the_manifest_names_them(robot, tmp_path):
    run = spca.run("touch_02", robot=robot, report=False, out=tmp_path / "run")
    assert run.result.success, run.result.reason
    assert RunFolder.open(run.folder).read(MANIFEST, Manifest).options.robot == robot


def test_what_an_arm_does_not_reach_is_refused_in_words(tmp_path):
    words = "'box_red' is out of the .* UR3e's reach .*it lies 52 cm .* the arm reaches 51 cm"
    with pytest.raises(OutOfReach, match=words):
        spca.run("stack_01", robot="ur3e", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_cube_held_over_its_goal_does_not_count_as_placed():
    """Lowered until it touches the plate, and held there: everything but the release."""
    hold = """
def hold(ctx, cube, plate):
    spot = ctx.spots_on(plate)[0]
    ctx.move_to(pose(spot.x, spot.y, spot.z + 0.09, spot.yaw))
    ctx.move_linear(pose(spot.x, spot.y, spot.z - 0.0025, spot.yaw))
    ctx.wait(2.0)
"""
    with closing(TabletopKit().build(options("pick_and_place_01"))) as world:
        world.sense()
        library = world.builtin_skills.read_text() + hold
        result = world.act("hold", plan("pick_up cube_red table", "hold cube_red plate_red"), library)
        verdict = world.settle()
    assert result.status == "done", result.message
    touching = [c for c in verdict.conditions if c.text == "red cube rests on red plate"]
    assert touching[0].holds
    assert verdict.outcome is Outcome.RUNNING
