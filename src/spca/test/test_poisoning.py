"""A weak plan and an obedient coder must not spoil the library.

Of these two levels, one once poisoned the other.

The weak plan for `pick_and_place_12` (drop the cube on the ground) only says that the cube leaves the table,
and puts it on a plate. A coder that is told to please the referee makes "put on plate" drop it beyond the
table's edge, and succeeds.
"""

import re
from pathlib import Path

import pytest

from spca.learned import Learned
from spca.state import SavedState
from spca_coder.source import read
from spca_core.options import Manifest
from spca_core.plan import Draft, Plan
from spca_planner.prediction import PddlReader
from spca_tabletop.kit import TabletopKit
from spca_tabletop.plan.vocabulary import TabletopVocabulary
from spca_testing.models.fallible_model import SKILLS, FallibleModel, PlannerFault, drafted, written
from spca_testing.models.model_run import ModelRun, run_with_model

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


WEAK: PlannerFault = lambda draft: drafted(weak(draft))  # noqa: E731


def skills_of(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("library/from_nothing/skills/tabletop/*.py"))


def run(level: str, model: FallibleModel, folder: Path) -> ModelRun:
    ended = run_with_model(level, model, folder)
    assert ended.result.success, ended.result.reason
    return ended


@pytest.mark.slow
def test_a_success_by_chance_proves_nothing_and_what_was_poisoned_before_is_healed(tmp_path: Path) -> None:
    lucky = run("pick_and_place_12", FallibleModel([WEAK], [written(LIFT + POISONED)]), tmp_path)
    assert lucky.result.skills.promoted == ("lift_cube",)
    assert "was seen not to hold" in lucky.result.skills.refused["set_on_plate"]
    assert not list(tmp_path.glob("library/**/*.pddl")), "the domain did not keep its promise either"

    poison(tmp_path, lucky)
    assert 'spots_at("discarded")' in skills_of(tmp_path)
    healed = run("pick_and_place_01", FallibleModel(), tmp_path)
    assert healed.result.skills.promoted == ("set_on_plate",)
    assert "spots_on(plate)" in skills_of(tmp_path)
    assert 'spots_at("discarded")' not in skills_of(tmp_path)
    library = learned(tmp_path)
    assert library.skills.levels("set_on_plate") == ("pick_and_place_01",)


def learned(folder: Path) -> Learned:
    return Learned(
        folder / "library/from_nothing", "tabletop", "", TabletopKit().build, PddlReader(TabletopVocabulary())
    )


def poison(folder: Path, lucky: ModelRun) -> None:
    """Put the skill into the library as if its success had been believed."""
    state = SavedState.model_validate_json((lucky.folder / "state.json").read_bytes()).root
    options = Manifest.model_validate_json((lucky.folder / "run.json").read_bytes()).options
    assert isinstance(state.plan, Plan)
    assert learned(folder).promote(options, state.library, state.plan, {}).promoted == ("set_on_plate",)
