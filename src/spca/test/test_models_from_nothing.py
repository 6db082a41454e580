"""From an empty library, a fallible model writes skills.

Critics and repairs correct them, and later runs reuse them.
"""

from pathlib import Path

import pytest

from spca_coder.source import LibraryReader
from spca_testing.models.behaviours import Say
from spca_testing.models.fallible_model import BIG, CODER, SMALL, FallibleModel, changed, miswritten
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
