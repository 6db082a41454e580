"""Levels that the built-in proposer cannot read: a model brings an action and a skill of its own."""

from pathlib import Path

import pytest

from spca_coder.source import read
from spca_core.plan import Draft
from spca_testing import pddl
from spca_testing.models.fallible_model import SKILLS, FallibleModel
from spca_testing.models.model_run import run_with_model

_PUT = """
    for tool in {spots}:
        above = pose(tool.x, tool.y, tool.z + 0.09, tool.yaw)
        ctx.move_to(above)
        ctx.move_linear(tool)
        ctx.open(0.06)
        ctx.move_linear(above)
        return
    raise RuntimeError("there is no free place")
"""
_AT = "[pose({}) for spot in ctx.spots_on_table()]"
LEVELS = {
    "arrange_03": ("left_of ?c - cube ?other - cube", "cube_red cube_green",
                   _AT.format("ctx.locate(other).x, ctx.locate(other).y + 0.1, spot.z, spot.yaw")),
    "arrange_04": ("at_the_coordinates ?c - cube", "cube_red", _AT.format("0.45, 0.05, spot.z, spot.yaw")),
    "arrange_05": ("turned ?c - cube", "cube_red",
                   _AT.format("ctx.locate(c).x, ctx.locate(c).y, spot.z, ctx.locate(c).yaw + 0.785")),
    "arrange_06": ("in_the_right_half ?c - cube", "cube_red",
                   "[spot for spot in ctx.spots_on_table() if spot.y < -0.05]"),
}  # fmt: skip
"""What a level's action makes true, of which things, and where its skill puts the cube that is held."""


class Arranger(FallibleModel):
    """It adds one action to its domain, and writes the skill of that action."""

    def __init__(self, fact: str, things: str, spots: str) -> None:
        super().__init__()
        self._fact, (predicate, *given) = f"({fact})", fact.split()
        self._goal = f"({predicate} {things})"
        names = [word[1:] for word in given if word.startswith("?")]
        made = f"({predicate} {' '.join('?' + name for name in names)})"
        source = f'def make_{predicate}(ctx, {", ".join(names)}):\n    """Put the held cube there."""'
        self._action = (
            f"(:action make_{predicate} :parameters ({' '.join(given)}) :precondition (holding ?c)\n"
            f"  :effect (and {made} (hand_empty) (not (holding ?c))))"
        )
        self._skills = read(SKILLS.read_text() + "\n\n" + source + _PUT.format(spots=spots))

    def _draft(self, text: str) -> Draft:
        draft = pddl.draft(text, "pick up the red cube")
        domain = draft.domain.replace("(:predicates", f"(:predicates {self._fact}").rstrip()[:-1]
        problem = draft.problem.replace("(holding cube_red)", self._goal)
        return Draft(domain=f"{domain}{self._action})", problem=problem)


@pytest.mark.slow
@pytest.mark.parametrize(
    "level", ["arrange_03", *(pytest.param(level, marks=pytest.mark.full) for level in [*LEVELS][1:])]
)
def test_a_model_brings_what_the_domain_lacks(level: str, tmp_path: Path) -> None:
    run = run_with_model(level, Arranger(*LEVELS[level]), tmp_path)
    assert run.result.success, (run.result.reason, run.plan_rejections(), run.code_rejections())
