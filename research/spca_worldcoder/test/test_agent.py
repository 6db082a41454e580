"""The agent from first action to learned world, its folder, and the documentation's worked example."""

import json
import re
import threading
from pathlib import Path

import numpy as np
import pytest

from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_core.run_folder import RunFolder
from spca_llm.chat import open_chat
from spca_planner.solver.process import SolverProcess
from spca_programs.experience import NotLearnable, Program, Verdict
from spca_programs.factories import stand_in
from spca_programs.state import State, entity, state_of
from spca_testing.models.behaviours import Say
from spca_testing.models.server import ModelServer
from spca_worldcoder.agent.agent import Agent
from spca_worldcoder.agent.bandit import Arm, Bandit, search
from spca_worldcoder.agent.planner import ModelPlanner
from spca_worldcoder.bench.baselines import random_actions, react
from spca_worldcoder.bench.bench import Watcher, play
from spca_worldcoder.options import LearnOptions, Settings, WorldOptions
from spca_worldcoder.report import write_report
from spca_worldcoder.run import PROGRAM, TRANSITIONS, laboratory, resume, start
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.worlds.minigrid import MinigridWorld
from spca_worldcoder.worlds.sokoban import Sokoban
from spca_worldcoder.worlds.world import Step, World

RULES = stand_in("inductive")


def never() -> bool:
    return False


def options(world: str, **settings: object) -> LearnOptions:
    worlds = WorldOptions(world=world, environments=("Empty-5x5",) if world == "minigrid" else ())
    return LearnOptions(
        worlds=worlds, settings=Settings.model_validate({"streak": 3, "episodes": 12, **settings})
    )


def learn(world: World, watcher: Watcher, folder: Path, settings: Settings) -> None:
    """Have an agent learn a world that no catalogue has."""
    made = LearnOptions(worlds=WorldOptions(world=world.name), settings=settings)
    with laboratory(made, RunFolder(folder), never) as lab:
        Agent(*lab, settings, watcher).learn(world)


def test_the_example_of_the_documentation_is_learned(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "worldcoder.md").read_text()
    (tmp_path / "vacuum.py").write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0])
    folder, result = start(options(f"{tmp_path / 'vacuum.py'}:Vacuum"), tmp_path / "run", Watcher(), never)
    assert result.outcome == "learned", result
    assert "dirt" in (folder.path / "program.py").read_text()


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    stop = threading.Event()

    class Stopping(Watcher):
        def step(self, *args: object, **named: object) -> None:
            self.actions += 1
            if self.actions == 14:
                stop.set()

    folder, result = start(options("minigrid"), tmp_path / "run", Stopping(), stop.is_set)
    assert result.outcome == "interrupted"
    before = (folder.path / TRANSITIONS).read_text()
    assert len(before.splitlines()) == 14
    folder, result = resume(tmp_path / "run", Watcher(), never)
    assert result.outcome == "learned"
    assert (folder.path / TRANSITIONS).read_text().startswith(before)
    assert "The last program" in write_report(folder).read_text()


def test_a_writer_that_repeats_itself_is_not_asked_for_ever() -> None:
    asked = []

    def draft(arm: Arm) -> tuple[Program, Verdict]:
        asked.append(arm)
        return Program(source="x = 1"), Verdict(explained=0.5, failing=(0,))

    found = search(Bandit(np.random.default_rng(0)), draft, lambda _, verdict: verdict.fits, 50)
    assert found is not None
    assert len(asked) == 4
    search(Bandit(np.random.default_rng(0)), draft, lambda _, verdict: verdict.fits, 50, None)
    assert len(asked) == 4 + 50, "as published"


def test_a_world_with_nothing_left_to_try_is_declined(tmp_path: Path) -> None:
    """Instead of episodes without a step."""

    class Corridor:
        name, actions = "corridor", ("east", "west")

        def reset(self, seed: int) -> tuple[State, str]:
            self.at = 1
            return self.state(), "be happy"

        def state(self) -> State:
            return state_of([entity("walker", self.at, 0), entity("wall", 0, 0), entity("wall", 4, 0)])

        def step(self, action: str) -> Step:
            self.at = min(3, max(1, self.at + {"east": 1, "west": -1}[action]))
            return Step(self.state(), 0.0, False)

    watcher, settings = Watcher(), Settings(first_data=200)
    with pytest.raises(NotLearnable, match="nothing to try"):
        learn(Corridor(), watcher, tmp_path, settings)
    assert sum(not one.steps for one in watcher.episodes) == settings.streak


def test_a_damaged_folder_is_one_clear_line(tmp_path: Path) -> None:
    folder, _ = start(options("minigrid", episodes=1), tmp_path / "run", Watcher(), never)
    (folder.path / PROGRAM).write_text(json.dumps({"source": 3}))
    with pytest.raises(InputError, match="damaged"):
        resume(tmp_path / "run", Watcher(), never)


def test_baselines_play_the_same_worlds(tmp_path: Path) -> None:
    """Chance wins where little is asked; the true rules win a level; a model is asked for every action."""
    assert random_actions(MinigridWorld("Empty-5x5"), 0, 5).success > 0
    world = Sokoban(3, 7)
    with ModelRunner() as runner, SolverProcess() as solver:
        planner = ModelPlanner(runner, [RULES.searcher(solver, 30.0)])
        assert play("true rules", RULES.true_rules(), planner, 3, 7, [5]).solved == 1
    answers = iter(["Nothing to report.", *["I go on.\nAction: up"] * 4, "Action: fly"])
    with ModelServer(lambda seen: Say(next(answers, "?"), usage=(10, 5))) as server:
        config = {"model": "test-model", "base_url": server.base_url, "attempts": 1}
        (tmp_path / "llm.yaml").write_text(json.dumps({"roles": {"coder": config}}))
        chat = open_chat(str(tmp_path / "llm.yaml"), tmp_path / "llm")  # as `--llm` does
        played = react(world, chat, 0, episodes=1, steps=6)
    assert (played.success, played.actions) == (0, 4)
    assert played.usage.tokens == 15 * played.usage.questions > 0
