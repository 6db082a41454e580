"""A weak plan and an obedient coder must not spoil the library.

The weak plan for `pick_and_place_12` (drop the cube on the ground) only says that the cube leaves the table,
and puts it on a plate. A coder that is told to please the referee makes "put on plate" drop it beyond the
table's edge, and succeeds.
"""

import re
from pathlib import Path

import pytest

from spca_coder.source import read
from spca_core.plan import Draft
from spca_testing.models.fallible_model import SKILLS, FallibleModel, drafted, written
from spca_testing.models.model_run import run_with_model

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
    model = FallibleModel([lambda draft: drafted(weak(draft))], [written(LIFT + POISONED)])
    lucky = run_with_model("pick_and_place_12", model, tmp_path)
    assert lucky.result.success, lucky.result.reason
    assert lucky.result.skills.promoted == ("lift_cube",)
    assert "was seen not to hold" in lucky.result.skills.refused["set_on_plate"]
    assert not list(tmp_path.glob("library/**/*.pddl")), "the domain did not keep its promise either"
