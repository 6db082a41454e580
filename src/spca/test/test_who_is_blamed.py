"""Stories of wrong domains, wrong goals and wrong skills, played to the end: who is asked to mend what.

What goes wrong in a single skill is in test_model_faults.py.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from spca.blame import Blame
from spca.stages import blame_of
from spca_core.options import Budgets
from spca_core.plan import Draft, Rehearsed
from spca_testing.models.behaviours import Behaviour
from spca_testing.models.fallible_model import (
    CODER,
    CoderFault,
    FallibleModel,
    PlannerFault,
    changed,
    drafted,
    written,
)
from spca_testing.models.model_run import ModelRun, run_with_model

pytestmark = pytest.mark.slow

PLANNER: tuple[str, ...] = ()
"""Who is blamed where no skill is."""


@dataclass(frozen=True)
class Story:
    """What goes wrong first, and who is to be told; after that the model's answers are good.

    `blamed`: the actions whose skills are blamed first.
    """

    planner: tuple[PlannerFault, ...] = ()
    coder: tuple[CoderFault, ...] = ()
    blamed: tuple[str, ...] = ()
    told: str = ""
    level: str = "pick_and_place_01"
    options: dict[str, Any] = field(default_factory=dict)


def both(*parts: tuple[str, str, str]) -> PlannerFault:
    """A good draft with several texts replaced: old, new and where."""

    def fault(draft: Draft) -> Behaviour:
        for old, new, where in parts:
            text = getattr(draft, where)
            assert old in text, (old, text)
            draft = draft.model_copy(update={where: text.replace(old, new)})
        return drafted(draft)

    return fault


def edited(*parts: tuple[str, str]) -> CoderFault:
    """Good source with several texts replaced."""

    def fault(source: str) -> Behaviour:
        for old, new in parts:
            assert old in source, (old, source)
            source = source.replace(old, new)
        return written(source)

    return fault


UNCHECKED = ("        ctx.look()\n        if not ctx.holds(\"on\", cube, plate):\n"
             "            raise RuntimeError(f\"{cube} is not on {plate}\")\n", "")  # fmt: skip
ON_PLATE = ("(:goal (on_ground cube_red))", "(:goal (and (on cube_red plate_blue){}))", "problem")
CARRIES_ANOTHER = """    others = [o.name for o in ctx.scene() if o.kind == "cube" and o.name != cube]
    for grasp in ctx.grasps(others[-1]):
        tool = grasp.pose
        above = pose(tool.x, tool.y, tool.z + 0.09, tool.yaw)
        ctx.open(grasp.gap)
        ctx.move_to(above)
        ctx.move_linear(tool)
        ctx.close()
        ctx.move_linear(above)
        break
    for tool in ctx.spots_on_table():
        ctx.move_to(pose(tool.x, tool.y, tool.z + 0.09, tool.yaw))
        ctx.move_linear(tool)
        ctx.open(0.06)
        ctx.move_linear(pose(tool.x, tool.y, tool.z + 0.09, tool.yaw))
        break
    for grasp in ctx.grasps(cube):
"""
LETS_FALL = "(:goal (and (on cube_red plate_red) (on_ground cube_green)))"
SIGN = "(:goal (on cube_red plate_red))"
REHEARSED = {"rehearse": "always", "budgets": Budgets(rehearsal_s=40.0)}
"""With time for the judgement of a plan, and hardly any for other plans and choices in its place."""

STORIES = {
    "the wrong place": Story(
        coder=(edited(("ctx.spots_on(plate)", "ctx.spots_on_table()"), UNCHECKED),),
        blamed=("set_on_plate",), told="was seen not to hold: (on cube_red plate_red)",
    ),
    "another thing is moved, too, and the task is not fulfilled": Story(
        level="pick_and_place_12", planner=(both((ON_PLATE[0], ON_PLATE[1].format(""), "problem")),),
        coder=(edited(("    for grasp in ctx.grasps(cube):\n", CARRIES_ANOTHER)),),
        blamed=("lift_cube", "set_on_plate"), told="the step is not about that",
    ),
    "a domain without anything held, found in a rehearsal": Story(
        planner=(changed(":precondition (holding ?cube)\n    :effect (and (on ?cube ?plate)",
                         ":precondition (clear ?cube)\n    :effect (and (on ?cube ?plate)", "domain"),),
        blamed=PLANNER, told="the plan lacks one", options=REHEARSED,
    ),
    "an effect that does not come about": Story(
        planner=(changed("(and (on ?cube ?plate) (hand_empty)",
                         "(and (on ?cube ?plate) (not (clear ?cube)) (hand_empty)", "domain"),),
        blamed=("set_on_plate",), told="the same skills and the same predictions",
        options=REHEARSED,
    ),
    "a delete effect is missing": Story(
        level="pick_and_place_12",
        planner=(both(("(not (hand_empty)) (not (on ?cube ?support))", "(not (hand_empty))", "domain"),
                      (ON_PLATE[0], ON_PLATE[1].format(" (on cube_red table)"), "problem")),),
        blamed=PLANNER, told="(on cube_red table) was not seen to hold",
    ),
    "a sign is obeyed": Story(
        level="sign_01", planner=(changed(SIGN, LETS_FALL),),
        blamed=PLANNER, told="seems to have done what the plan wants, (on_ground cube_green)",
    ),
}  # fmt: skip


def blames(run: ModelRun) -> list[Blame]:
    """All blames of a run in order, those of rejected rehearsals among them."""
    paths = [p for kind in ("blame", "rehearsal") for p in run.folder.glob(f"round_*/{kind}_*.json")]
    found = []
    for path in sorted(paths, key=lambda p: int(p.stem.rpartition("_")[2])):
        if path.stem.startswith("blame"):
            found.append(Blame.model_validate_json(path.read_bytes()))
            continue
        rehearsed = Rehearsed.model_validate_json(path.read_bytes())
        found += [blame_of(rehearsed)] if rehearsed.status == "rejected" else []
    return found


@pytest.mark.parametrize("name", STORIES)
def test_who_is_blamed(name: str, tmp_path: Path) -> None:
    story = STORIES[name]
    model = FallibleModel(planner=story.planner, coder=story.coder)
    run = run_with_model(story.level, model, tmp_path, **story.options)
    assert run.result.success, run.result.reason
    assert blames(run)[0].suspects == story.blamed
    later = "\n".join(seen.text for seen in run.requests)
    assert story.told in later
    assert {critic for critic, _ in run.plan_rejections()} <= {"goal"} and not run.code_rejections()
    assert not run.result.skills.refused
    verdicts = ("touches", "not met", "referee")
    assert not any(word in text for text in run.asked(CODER) for word in verdicts), "for the planner alone"
