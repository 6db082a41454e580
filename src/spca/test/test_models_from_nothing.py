"""From an empty library, a fallible model writes skills.

Critics and repairs correct them, and later runs reuse them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spca_coder.source import LibraryReader
from spca_testing.models.behaviours import Say
from spca_testing.models.fallible_model import BIG, CODER, SMALL, FallibleModel, changed, miswritten
from spca_testing.models.model_run import ModelRun, run_with_model

FIRST_LEVELS = {
    "touch_02": FallibleModel(
        planner=[Say("Certainly! Here is a plan."), changed("(hand_empty) ", "(hand_empty ")],
        coder=[miswritten("ctx.close()", "ctx.close("),
               miswritten("tool.z, tool.yaw)", "tool.z + 0.05, tool.yaw)")],
    ),
    "pickup_02": FallibleModel(
        # the hand is said to hold what the scene shows on the table
        planner=[changed("(hand_empty) ", "(hand_empty) (holding cube_blue) "),
                 changed("(holding cube_red)", "(holding cube_blue)")],
        coder=[miswritten("(ctx, cube, support)", "(ctx, cube)"),
               miswritten("tool.z, tool.yaw)", "tool.z + 0.05, tool.yaw)")],
    ),
    "pick_and_place_01": FallibleModel(
        planner=[changed("(on ?cube ?plate) (hand_empty)", "(hand_empty)", "domain"),
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


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, ModelRun]]]:
    """Each group's first level, solved one after the other in one library that was empty before."""
    folder = tmp_path_factory.mktemp("from_nothing")
    yield (
        folder,
        {name: run_with_model(name, model, folder) for name, model in FIRST_LEVELS.items()},
    )


@pytest.mark.slow
@pytest.mark.parametrize("level", FIRST_LEVELS)
def test_the_first_level_of_each_group_is_solved(
    level: str, learned: tuple[Path, dict[str, ModelRun]]
) -> None:
    run = learned[1][level]
    assert run.result.success, run.result.reason
    assert run.result.rounds == (
        2 if level == "stack_01" else 1
    )  # its plan had no steps: only a new one can help
    assert run.result.skills.written
    assert set(run.result.skills.written) <= set(run.result.skills.promoted)
    assert run.plan_rejections() or run.result.planner.replan
    assert run.code_rejections()
    assert run.result.coder.first >= 1
    assert run.result.coder.semantic == 1  # something failed in the world, and the code was repaired for it
    assert len(run.acts()) >= 2


@pytest.mark.slow
def test_every_stage_had_to_repair(learned: tuple[Path, dict[str, ModelRun]]) -> None:
    """The faults came from all critics, and each was answered by what that critic said."""
    runs = learned[1]
    critics = {critic for run in runs.values() for critic, _ in run.plan_rejections()}
    assert {"model", "parse", "scene", "solve", "goal"} <= critics
    assert runs["stack_01"].result.planner.replan == 1
    assert "red cube rests on blue cube" in runs["stack_01"].asked(BIG)[-1]
    code = " ".join(r for run in runs.values() for r in run.code_rejections())
    for words in (
        "not Python",
        "def lift_cube(ctx, cube, support):",
        "ctx has no 'look_again'",
        "no Python function",
    ):
        assert words in code
    failure = "lift_cube(cube_red, table) failed, error: RuntimeError: the fingers closed on nothing"
    (repair,) = [text for text in runs["pickup_02"].asked(CODER) if failure in text]
    report = repair.partition("<report>")[2].partition("</report>")[0].strip()
    assert report.startswith("step 1 lift_cube") and report.count("\n") == 0
    assert "Seen afterwards" not in report  # only what has changed is told, and nothing has
    assert "tool.z + 0.05" in repair  # the code that failed


@pytest.mark.slow
def test_what_was_learned_is_reused(learned: tuple[Path, dict[str, ModelRun]]) -> None:
    folder, runs = learned
    assert runs["stack_01"].result.skills.reused == ("lift_cube",)
    assert runs["pick_and_place_01"].result.skills.reused == ("lift_cube",)
    assert runs["touch_02"].asked(BIG)
    for level, used in {"touch_03": {"touch_thing"}, "stack_02": {"lift_cube", "set_on_cube"}}.items():
        later = run_with_model(level, FallibleModel(), folder)
        assert later.result.success, later.result.reason
        assert set(later.result.skills.reused) == used
        assert later.result.skills.written == ()
        assert (later.result.planner.reuse, later.result.planner.fresh) == (1, 0)
        assert set(later.result.usage) == {"planner_small"}
        assert len(later.asked(SMALL)) == 1
        assert not later.asked(CODER)


@pytest.mark.slow
def test_the_library_grew_from_nothing(learned: tuple[Path, dict[str, ModelRun]]) -> None:
    skills = {
        path.stem: path.read_text() for path in learned[0].glob("library/from_nothing/skills/tabletop/*.py")
    }
    assert all([s.name for s in LibraryReader().signatures(text)] == [name] for name, text in skills.items())
    assert skills.keys() == {
        "touch_thing",
        "lift_cube",
        "set_on_plate",
        "set_on_cube",
    }
    assert "0.05, tool.yaw" not in "".join(skills.values())  # what failed is not kept
    domains = sorted(p.stem for p in (learned[0] / "library/from_nothing/domains/tabletop").glob("*.pddl"))
    assert domains == ["pick_and_place", "pickup", "stack", "touch"]
