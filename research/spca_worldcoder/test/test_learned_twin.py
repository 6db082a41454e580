"""Rehearsing MiniGrid plans in a learned program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spca_core.errors import InputError
from spca_core.observation import Observation
from spca_core.options import RunOptions
from spca_core.plan import Plan, PlanRequest, Step
from spca_core.run_folder import RunFolder
from spca_core.skill_package import library_source
from spca_minigrid.kit import MinigridKit
from spca_rehearsal.rehearsal import SampledRehearsal
from spca_testing.contracts.rehearsal_contract import RehearsalContract
from spca_worldcoder.agent.settings import Settings
from spca_worldcoder.bench.bench import Watcher
from spca_worldcoder.records import Program
from spca_worldcoder.run import PROGRAM, LearnOptions, start
from spca_worldcoder.worlds.catalogue import WorldOptions
from spca_worldcoder.worlds.minigrid_twin import learned_twin

KIT = MinigridKit()
LEVEL = RunOptions(level="minigrid:MiniGrid-DoorKey-5x5", seed=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short learning run in DoorKey."""
    options = LearnOptions(
        worlds=WorldOptions(world="minigrid", environments=("DoorKey-5x5",)), settings=Settings(streak=2)
    )
    made, result = start(options, tmp_path_factory.mktemp("learned") / "run", Watcher(), lambda: False)
    assert result.outcome == "learned"
    return made.path


@pytest.fixture(scope="module")
def rehearsal(folder: Path) -> Iterator[SampledRehearsal]:
    made = SampledRehearsal(learned_twin(folder))
    yield made
    made.close()


@pytest.fixture(scope="module")
def library() -> str:
    """The built-in skills, but for one that does not see to the key by itself."""
    return library_source("minigrid", KIT.builtin_skills) + CARELESS


CARELESS = """

def unlock_door(ctx, door, key):
    yield from _approach(ctx, door)
    yield TOGGLE
"""
TAKE, UNLOCK, ENTER = ("pick_up", "key"), ("unlock_door", "door", "key"), ("enter", "goal")


@pytest.fixture(scope="module")
def plans() -> tuple[Observation, Callable[..., Plan]]:
    """The level's first observation, and what makes plans of steps for it."""
    environment = KIT.build(LEVEL)
    observation = environment.sense()
    request = PlanRequest(attempt="", task=environment.task, observation=observation, skills=())
    environment.close()
    draft = KIT.builtin().draft(request, None, None)

    def make(*steps: tuple[str, ...]) -> Plan:
        return Plan(steps=tuple(Step(action=s[0], args=s[1:]) for s in steps), schemas=(), draft=draft)

    return observation, make


@pytest.fixture(scope="module")
def observation(plans: tuple[Observation, Callable[..., Plan]]) -> Observation:
    return plans[0]


@pytest.fixture(scope="module")
def plan(plans: tuple[Observation, Callable[..., Plan]]) -> Plan:
    return plans[1](TAKE, UNLOCK, ENTER)


@pytest.fixture(scope="module")
def forgetful(plans: tuple[Observation, Callable[..., Plan]]) -> Plan:
    """The plan without the key."""
    return plans[1](UNLOCK, ENTER)


@pytest.mark.slow
class TestLearnedTwin(RehearsalContract):
    def test_a_plan_that_forgets_the_key_is_rejected(
        self, rehearsal: SampledRehearsal, forgetful: Plan, library: str, observation: Observation
    ) -> None:
        """The program has learned that a locked door stays shut without one."""
        found = rehearsal.try_out("run/1.1", forgetful, library, observation, 60.0)
        assert found.status == "rejected"
        assert "unlock_door" in found.sentence

    def test_nothing_but_the_program_decides(
        self, forgetful: Plan, library: str, observation: Observation, folder: Path, tmp_path: Path
    ) -> None:
        """In one that takes doors for open without a key, the same plan is accepted."""
        learned = RunFolder(folder).read(PROGRAM, Program)
        (tmp_path / "run").mkdir()
        lenient = LENIENT.replace("REST", learned.source.replace("def transition", "def learned"))
        RunFolder(tmp_path / "run").write(PROGRAM, Program(source=lenient))
        rehearsal = SampledRehearsal(learned_twin(tmp_path / "run"))
        found = rehearsal.try_out("run/1.1", forgetful, library, observation, 60.0)
        rehearsal.close()
        assert found.status == "accepted", found.sentence


LENIENT = """
REST

def transition(state, action):
    after = learned(state, action)
    if action == "toggle":
        for door in find_all(after, "door"):
            door["state"] = "open"
    return after
"""


def test_a_folder_without_a_program_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing"):
        learned_twin(tmp_path)
