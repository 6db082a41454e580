"""Who writes programs: the port's contract, and a scripted model with every kind of failure."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from spca_benchmarks.campaigns.bench import Done
from spca_benchmarks.campaigns.page import Page
from spca_llm.chat import Chat, open_chat
from spca_programs.experience import Draft, Experience, Program, Transition, Verdict
from spca_programs.factories import stand_in
from spca_testing.models.behaviours import Behaviour, Say, cut_off
from spca_testing.models.server import ModelServer
from spca_worldcoder.agent.agent import Agent
from spca_worldcoder.agent.modelling import Modelling, judge
from spca_worldcoder.agent.planner import ModelPlanner
from spca_worldcoder.bench import bench as worldcoder_bench
from spca_worldcoder.bench.bench import Watcher, WorldcoderBench
from spca_worldcoder.bench.suites import SUITES, Suite
from spca_worldcoder.language.synthesizer import LanguageSynthesizer
from spca_worldcoder.options import Settings
from spca_worldcoder.sandbox import SIGNATURES, ModelRunner
from spca_worldcoder.synthesizer import ModelSynthesizer
from spca_worldcoder.worlds.sokoban import Sokoban

IDLE = """
def transition(state, action):
    return state

def reward(before, action, after, mission):
    return -0.1, False
"""
GOOD = stand_in("inductive").true_rules().source
NO_WIN = GOOD.replace("round(paid + 10.0, 6), True", "round(paid, 6), False")
HOSTILE = IDLE.replace("    return state", "    import os\n    os.system('true')\n    return state")
SLOW = IDLE.replace("    return state", "    while True:\n        pass")
LYING = IDLE + "\ndef wc_plan_value(*_):\n    return ['up']\n"


Start = Callable[..., tuple[ModelServer, Chat]]
"""See the fixture `start`."""


def fenced(source: str) -> Say:
    return Say(f"The rules are clear.\n```python\n{source}```\n", usage=(100, 50))


def seen_in_sokoban(steps: int = 40) -> Experience:
    world = Sokoban(1, 6)
    experience = Experience(world.actions)
    state, mission = world.reset(1)
    experience.starts.append((state, mission))
    rng = np.random.default_rng(0)
    for _ in range(steps):
        action = world.actions[int(rng.integers(4))]
        after, reward, done = world.step(action)
        experience.add(Transition(state, action, after, reward, done, mission))
        state = after
        if done:
            break
    return experience


@pytest.fixture
def runner() -> Iterator[ModelRunner]:
    with ModelRunner() as one:
        yield one


@pytest.fixture
def experience() -> Experience:
    return seen_in_sokoban()


@pytest.fixture(params=["inductive", "language"])
def synthesizer(request: pytest.FixtureRequest, start: Start) -> ModelSynthesizer:
    """The built-in writer, and one that asks a model."""
    if request.param == "inductive":
        return stand_in("inductive").synthesizer()
    return LanguageSynthesizer(start(lambda seen: fenced(GOOD))[1])


def test_a_writer_writes_refines_and_declines_programs(
    synthesizer: ModelSynthesizer, experience: Experience, runner: ModelRunner
) -> None:
    """One that enumerates comes to an end."""
    first = synthesizer.first(experience)
    assert all(f"def {name}(" in first.source for name in SIGNATURES)
    assert runner.load(first) == ""
    wrong = Verdict(explained=0.5, failing=(0,), said=("nothing changes; reward 0, ends: False",))
    refined = synthesizer.refine(first, experience, wrong)
    assert 0 <= judge(runner, refined, experience.transitions).explained <= 1
    state, mission = experience.starts[-1]
    assert isinstance(synthesizer.for_goal(first, experience, state, mission), Program)
    last = synthesizer.for_plan(first, experience, state, mission, 100)
    assert last is None if synthesizer.enumerates else isinstance(last, Program)


def test_a_program_that_cannot_be_used_is_refused_in_words(runner: ModelRunner) -> None:
    lacking = Program(source=IDLE.partition("def reward")[0])
    verdict = judge(runner, lacking, seen_in_sokoban(5).transitions)
    assert "no top-level function `reward`" in verdict.problem and verdict.explained == 0


@pytest.mark.parametrize("source", [HOSTILE, SLOW])
def test_hostile_and_slow_programs_explain_nothing_and_harm_nothing(runner: ModelRunner, source: str) -> None:
    data = seen_in_sokoban(2).transitions
    predicted = runner.predict(Program(source=source), [(seen.before, seen.action) for seen in data])
    assert all(isinstance(one, str) for one in predicted)
    assert judge(runner, Program(source=GOOD), data).fits


def test_search_in_the_sandbox_solves_a_level_in_a_program_without_rules(runner: ModelRunner) -> None:
    planner, world = ModelPlanner(runner, [runner.plan]), Sokoban(1, 6)
    state, mission = world.reset(3)
    plan = planner.plan(Program(source=GOOD), state, mission, world.actions)
    assert [world.step(action).done for action in plan.actions][-1]
    assert planner.plan(Program(source=LYING), state, mission, world.actions) is None, "a lie does not count"


class Drafts(Watcher):
    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.problems: list[str] = []
        self.adopted: list[bool] = []

    def draft(self, draft: Draft, adopted: bool) -> None:
        self.adopted.append(adopted)
        self.sources.append(draft.program.source)
        self.problems.append(draft.verdict.problem)


def learn(chat: Chat, folder: Path) -> tuple[Agent, Drafts]:
    drafts = Drafts()
    settings = Settings(seed=4, streak=2, episodes=6, refinements=12, optimism=False)
    with ModelRunner() as runner:
        planner = ModelPlanner(runner, [runner.plan])
        agent = Agent(runner, planner, LanguageSynthesizer(chat, 4), settings, drafts)
        agent.result = agent.learn(Sokoban(1, 6))  # type: ignore[attr-defined]
    return agent, drafts


@pytest.mark.parametrize("later", [GOOD, NO_WIN])
def test_optimism_is_asked_about_once_and_a_bolder_program_is_adopted(
    start: Start, runner: ModelRunner, experience: Experience, later: str
) -> None:
    """At the episode's first state; an answer without code is a failed draft."""
    drafts = Drafts()
    server, chat = start(lambda seen: fenced(later) if seen.index else Say("I would rather not."))
    planner, writer = ModelPlanner(runner, [runner.plan]), LanguageSynthesizer(chat)
    chance, settings = np.random.default_rng(1), Settings(refinements=12)
    model = Modelling(runner, planner, writer, settings, chance, drafts.draft)
    model.take(experience, Program(source=NO_WIN))
    assert model.fits, "it explains all but how one wins"
    for _ in range(3):
        model.improve(experience.transitions[-1].after)
    assert "no program" in drafts.problems[0]
    assert any("subgoals" in seen.text for seen in server.requests) and len(server.requests) <= 5
    assert model.program.source.strip() == later.strip()
    assert (later == GOOD) == any(drafts.adopted)


@pytest.mark.slow
def test_the_bench_has_a_model_write_the_programs_and_counts_what_that_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Suite(lambda seed: [Sokoban(1, 6)], {"streak": 2, "episodes": 6})
    monkeypatch.setitem(SUITES, "sokoban", small)
    monkeypatch.setattr(worldcoder_bench, "REACT_EPISODES", 1)
    with ModelServer(lambda seen: fenced(GOOD)) as server:
        config = {"model": "test-model", "base_url": server.base_url, "attempts": 1}
        model = tmp_path / "one.yaml"
        model.write_text(json.dumps({"roles": {"coder": config}}))
        bench = WorldcoderBench(
            suites=("sokoban",), seeds=1, levels=0, synthesizer="language", models=(str(model),)
        )
        bench.prepare(tmp_path)
        [trial] = bench.trials()
        learned = bench.run_trial(trial, tmp_path)
    assert bench.success(learned)
    assert learned.usage.tokens == 150 * learned.usage.questions > 0
    assert [one.questions for one in learned.spent] == list(range(1, learned.usage.questions + 1))
    assert learned.spent[-1].tokens == learned.usage.tokens and learned.spent[-1].explained == 1
    page = Page("worldcoder")
    bench.report([Done(trial, learned)], page)
    assert "What the models took" in page.write(tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_an_agent_recovers_from_a_fallible_model_and_repeats_itself_on_replay(
    start: Start, tmp_path: Path
) -> None:
    queue: list[Behaviour] = [
        Say("I would rather not."),
        cut_off("```python\ndef trans"),
        fenced(IDLE),
        fenced(HOSTILE),
    ]
    agent, drafts = learn(start(lambda seen: queue.pop(0) if queue else fenced(GOOD))[1], tmp_path)
    assert agent.result.learned  # type: ignore[attr-defined]
    assert agent.model.program.source.strip() == GOOD.strip()
    assert any("no program" in problem for problem in drafts.problems)
    chat = open_chat(f"replay:{tmp_path / 'llm-0'}", tmp_path / "again")
    repeated, same = learn(chat, tmp_path)
    assert same.sources == drafts.sources
    assert repeated.model.experience.transitions == agent.model.experience.transitions
