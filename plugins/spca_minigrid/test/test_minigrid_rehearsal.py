"""Rehearsing in the map seen so far."""

from collections.abc import Iterator

import pytest

from spca.rehearsal.rehearsal import SampledRehearsal
from spca_core.options import RunOptions
from spca_core.plan import Plan, PlanRequest
from spca_core.scene import Observation
from spca_core.skill_package import library_source
from spca_minigrid.kit import MinigridKit
from spca_testing.contracts.rehearsal_contract import RehearsalContract
from spca_testing.observations import plan_of

KIT = MinigridKit()
FETCH, HIDDEN = (
    RunOptions(level=f"minigrid:{name}", seed=2)
    for name in ("MiniGrid-Fetch-5x5-N2", "BabyAI-GoToRedBallGrey")
)


def looked_and_planned(options: RunOptions, *steps: str) -> tuple[Observation, Plan]:
    """The level's first observation and built-in draft, with these steps as the plan."""
    environment = KIT.build(options)
    observation = environment.sense()
    request = PlanRequest(attempt="", task=environment.task, observation=observation, skills=())
    environment.close()
    return observation, plan_of(*steps, draft=KIT.builtin().draft(request, None, None))


@pytest.fixture(scope="module")
def rehearsal() -> Iterator[SampledRehearsal]:
    made = SampledRehearsal(lambda: KIT.twin(FETCH))
    yield made
    made.close()


@pytest.fixture(scope="module")
def library() -> str:
    return library_source("minigrid", KIT.builtin_skills)


@pytest.fixture(scope="module")
def observation() -> Observation:
    return looked_and_planned(FETCH)[0]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return looked_and_planned(FETCH, "pick_up green_ball")[1]


class TestMinigridRehearsal(RehearsalContract):
    pass


def test_what_a_step_declares_is_looked_for_on_the_map(
    rehearsal: SampledRehearsal, plan: Plan, observation: Observation
) -> None:
    idle = "def pick_up(ctx, thing):\n    yield LEFT\n"
    found = rehearsal.try_out("run/1.1", plan, idle, observation, 60.0)
    assert found.status == "rejected" and len(found.tries) == 1, "a map leaves no doubt"
    assert "expected (held green_ball)" in found.sentence


def test_what_was_never_seen_is_no_fault(rehearsal: SampledRehearsal, library: str) -> None:
    """The ball is not in sight: that it is not found on imagined floor says nothing."""
    observation, plan = looked_and_planned(HIDDEN, "find red_ball", "go_to red_ball")
    assert not observation.holds("located", "red_ball")
    found = rehearsal.try_out("run/1.1", plan, library, observation, 60.0)
    assert found.status == "accepted", found.sentence
