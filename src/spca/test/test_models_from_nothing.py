"""From an empty library, a fallible model writes skills.

Critics and repairs correct them, and later runs reuse them.
"""

import re
from pathlib import Path

import pytest

from spca_coder.source import LibraryReader, read
from spca_core.plan import Draft
from spca_testing.models.behaviours import Say
from spca_testing.models.fallible_model import (
    BIG,
    CODER,
    SKILLS,
    SMALL,
    FallibleModel,
    changed,
    drafted,
    miswritten,
    written,
)
from spca_testing.models.model_run import ModelRun, run_with_model

FIRST_LEVELS = {
    "pickup_02": FallibleModel(
        # The hand is said to hold what the scene shows on the table.
        planner=[changed("(hand_empty) ", "(hand_empty "),
                 changed("(hand_empty) ", "(hand_empty) (holding cube_blue) "),
                 changed("(holding cube_red)", "(holding cube_blue)")],
        coder=[miswritten("ctx.close()", "ctx.close("),
               miswritten("(ctx, cube, support)", "(ctx, cube)"),
               miswritten("tool.z, tool.yaw)", "tool.z + 0.05, tool.yaw)")],
    ),
    "pick_and_place_01": FallibleModel(
        planner=[Say("Certainly! Here is a plan."),
                 changed("(on ?cube ?plate) (hand_empty)", "(hand_empty)", "domain"),
                 changed("plate_red)", "plate_pink)")],
        coder=[miswritten("ctx.look()", "ctx.look_again()"),
               miswritten("tool.x, tool.y, tool.z, tool.yaw)", "tool.x - 0.1, tool.y, tool.z, tool.yaw)")],
    ),
    "stack_01": FallibleModel(
        planner=[changed("(:goal (on cube_red cube_blue))",
                         "(:goal (and (clear cube_red) (clear cube_blue)))")],
        coder=[Say("I would rather not write code."),
               miswritten("tool.x, tool.y, tool.z, tool.yaw)", "tool.x + 0.1, tool.y, tool.z, tool.yaw)")],
    ),
}  # fmt: skip


Learned = tuple[Path, dict[str, ModelRun]]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Each group's first level, solved one after the other in one library that was empty before."""
    folder = tmp_path_factory.mktemp("from_nothing")
    return folder, {name: run_with_model(name, model, folder) for name, model in FIRST_LEVELS.items()}


@pytest.mark.slow
def test_the_first_level_of_each_group_is_solved_by_repairs(learned: Learned) -> None:
    """The faults came from all critics, and each was answered by what that critic said."""
    runs = learned[1]
    for level, run in runs.items():
        assert run.result.success, run.result.reason
        # The plan of `stack_01` had no steps: only a new one can help.
        assert run.result.rounds == (2 if level == "stack_01" else 1)
        assert run.result.skills.written
        assert set(run.result.skills.written) <= set(run.result.skills.promoted)
        assert run.code_rejections() and run.result.coder.semantic == 1 and len(run.acts()) >= 2
    critics = {critic for run in runs.values() for critic, _ in run.plan_rejections()}
    assert {"model", "parse", "scene", "solve", "goal"} <= critics
    assert runs["stack_01"].result.planner.replan == 1
    assert "red cube rests on blue cube" in runs["stack_01"].asked(BIG)[-1]
    code = " ".join(r for run in runs.values() for r in run.code_rejections())
    signature = "def lift_cube(ctx, cube, support):"
    for words in ("not Python", signature, "ctx has no 'look_again'", "no Python function"):
        assert words in code
    failure = "lift_cube(cube_red, table) failed, error: RuntimeError: the fingers closed on nothing"
    (repair,) = [text for text in runs["pickup_02"].asked(CODER) if failure in text]
    report = repair.partition("<report>")[2].partition("</report>")[0].strip()
    assert report.startswith("step 1 lift_cube") and report.count("\n") == 0
    assert "tool.z + 0.05" in repair  # the code that failed


@pytest.mark.slow
def test_what_was_learned_is_reused(learned: Learned) -> None:
    folder, runs = learned
    assert runs["stack_01"].result.skills.reused == ("lift_cube",)
    later = run_with_model("stack_02", FallibleModel(), folder)
    assert later.result.success, later.result.reason
    assert set(later.result.skills.reused) == {"lift_cube", "set_on_cube"}
    assert later.result.skills.written == ()
    assert (later.result.planner.reuse, later.result.planner.fresh) == (1, 0)
    assert set(later.result.usage) == {"planner_small"}
    assert len(later.asked(SMALL)) == 1 and not later.asked(CODER)


@pytest.mark.slow
def test_the_library_grew_from_nothing(learned: Learned) -> None:
    library = learned[0] / "library/from_nothing"
    skills = {path.stem: path.read_text() for path in library.glob("skills/tabletop/*.py")}
    assert all([s.name for s in LibraryReader().signatures(text)] == [name] for name, text in skills.items())
    assert skills.keys() == {"lift_cube", "set_on_plate", "set_on_cube"}
    assert "0.05, tool.yaw" not in "".join(skills.values())  # what failed is not kept
    domains = sorted(path.stem for path in library.glob("domains/tabletop/*.pddl"))
    assert domains == ["pick_and_place", "pickup", "stack"]


# --- a weak plan and an obedient coder must not spoil the library -------------------------------------------

POISONED = '''


def set_on_plate(ctx, cube, plate):
    """Put the held cube down on a plate."""
    for tool in ctx.spots_at("discarded"):
        ctx.move_to(tool)
        ctx.open()
        ctx.wait(1.0)
        return
'''
LIFT = read(SKILLS.read_text()).excerpt({"lift_cube"}, set())


def weak(draft: Draft) -> Draft:
    """The right objects, the wrong goal, and no action that could reach the right one."""
    domain = re.sub(r"\(:action set_on_cube.*", ")", draft.domain, flags=re.DOTALL)
    problem = draft.problem.replace(
        "(:goal (on_ground cube_red))", "(:goal (and (not (on cube_red table)) (hand_empty)))"
    )
    assert domain != draft.domain and problem != draft.problem
    return Draft(domain=domain, problem=problem)


@pytest.mark.slow
def test_a_success_by_chance_proves_nothing(tmp_path: Path) -> None:
    """The plan for a level that drops the cube only says that it leaves the table, and puts it on a plate.

    A coder that is told to please the referee makes "put on plate" drop it beyond the table's edge.
    """
    model = FallibleModel([lambda draft: drafted(weak(draft))], [written(LIFT + POISONED)])
    lucky = run_with_model("pick_and_place_12", model, tmp_path)
    assert lucky.result.success, lucky.result.reason
    assert lucky.result.skills.promoted == ("lift_cube",)
    assert "was seen not to hold" in lucky.result.skills.refused["set_on_plate"]
    assert not list(tmp_path.glob("library/**/*.pddl")), "the domain did not keep its promise either"
