"""A plan costs the same and has the same steps whether or not the search knows of what cannot matter."""

from contextlib import closing

import pytest

from spca_core.options import RunOptions
from spca_core.plan import Draft, PlanRequest
from spca_core.ports.engine import Solution
from spca_core.ports.proposer import NotUnderstood
from spca_planner.pddl.lint import parse
from spca_planner.pddl.reachability import without_bystanders
from spca_planner.solver.downward import FastDownward
from spca_referee.level import list_levels
from spca_tabletop.kit import TabletopKit
from spca_tabletop.plan.proposer import BuiltinProposer

SHORT = ("crowd_01", "pyramid_03")


def solution(draft: Draft, problem: str) -> Solution:
    search = FastDownward().start(draft.domain, problem, 60.0)
    try:
        return search.wait()
    finally:
        search.close()


@pytest.mark.parametrize(
    "level",
    [level if level in SHORT else pytest.param(level, marks=pytest.mark.full) for level in list_levels()],
)
def test_plans_are_the_same_with_and_without_what_cannot_matter(level: str) -> None:
    """Independent steps may change places."""
    options = RunOptions(level=level, preset="nominal", seed=1, proposer="builtin")
    with closing(TabletopKit().build(options)) as environment:
        asked = PlanRequest(attempt="1", task=environment.task, observation=environment.sense(), skills=())
    try:
        draft = BuiltinProposer().draft(asked, None, None)
    except NotUnderstood:
        pytest.skip("this text is for language models")
    small = without_bystanders(*parse(draft.domain, draft.problem), draft.problem)
    if small != draft.problem:
        with_all, without = solution(draft, draft.problem), solution(draft, small)
        assert with_all.status == without.status == "solved"
        assert sorted(with_all.steps) == sorted(without.steps)
