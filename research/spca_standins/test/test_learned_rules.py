"""The built-in learner on known and changed worlds: it has to predict steps it never saw."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from spca_core.errors import Cancelled
from spca_induction import synthesizer as package
from spca_induction.emit import emit
from spca_induction.pddl import ClassicalSearch
from spca_induction.rulebook import Rulebook
from spca_induction.synthesizer import Learner
from spca_planner.solver.process import SolverProcess
from spca_programs.experience import Contradiction, Experience, Program, Transition
from spca_programs.state import entity, state_of
from spca_standins.inductive import true_sokoban
from spca_standins.variants import Renamed, odd_locks
from spca_worldcoder.agent.planner import ModelPlanner
from spca_worldcoder.sandbox import ModelRunner
from spca_worldcoder.worlds.minigrid import MinigridWorld
from spca_worldcoder.worlds.sokoban import Sokoban
from spca_worldcoder.worlds.world import World


def wander(world: World, steps: int, seed: int, experience: Experience | None = None) -> Experience:
    experience = experience or Experience(world.actions)
    rng = np.random.default_rng(seed)
    episode = 0
    while steps > 0:
        state, mission = world.reset(1000 * seed + episode)
        episode += 1
        for _ in range(50):
            action = world.actions[int(rng.integers(len(world.actions)))]
            after, reward, done = world.step(action)
            experience.add(Transition(state, action, after, reward, done, mission))
            state = after
            steps -= 1
            if done or steps <= 0:
                break
    return experience


WORLDS = {
    "sokoban": (lambda: Sokoban(2, 7), 300),
    "DoorKey renamed": (lambda: Renamed(MinigridWorld("DoorKey-5x5"), 1), 900),
    "doors lock again": (lambda: MinigridWorld("DoorKey-5x5", odd_locks(relock=True)), 1500),
}


@pytest.mark.parametrize("name", WORLDS)
def test_steps_never_seen_are_predicted_by_the_rules_and_the_emitted_program_alike(name):
    make, steps = WORLDS[name]
    rules = Learner().learn(wander(make(), steps, 1))
    fresh = wander(make(), 200, 77).transitions
    expected = [rules.predict(seen.before, seen.action) for seen in fresh]
    right = sum(after == seen.after for seen, after in zip(fresh, expected, strict=True))
    assert right >= 0.95 * len(fresh), f"{right} of {len(fresh)}"
    assert Rulebook.read(rules.dump()) == rules
    program = Program(source=emit(rules))
    with ModelRunner() as runner:
        assert runner.load(program) == ""
        assert runner.predict(program, [(seen.before, seen.action) for seen in fresh]) == expected


def test_chance_is_named_with_both_outcomes_and_not_explained_away():
    experience = wander(Sokoban(2, 7), 30, 1)
    odd = next(seen for seen in experience.transitions if seen.before != seen.after)
    experience.add(Transition(odd.before, odd.action, odd.before, odd.reward, odd.done, odd.mission))
    with pytest.raises(Contradiction, match=odd.action) as caught:
        Learner().learn(experience)
    assert len(caught.value.indices) == 2


def test_no_word_of_a_world_is_in_the_learner():
    words = (
        "wall|box|target|player|sokoban|minigrid|agent|door|key|ball|lava|toggle|pickup|unlock|locked|carrying"
        "|forward"
    )
    for path in Path(package.__file__).parent.rglob("*.py"):
        code = re.sub(r'""".*?"""|#.*', "", path.read_text(), flags=re.DOTALL)
        found = {w.lower() for w in re.findall(r"[A-Za-z]+", code)} & set(words.split("|"))
        assert found <= {"key"}, (path.name, found)  # `key=` of sorted


def test_payments_of_sokoban_are_exact_and_six_boxes_are_planned_in_learned_rules():
    rules = Learner().learn(wander(Sokoban(2, 7), 900, 2, wander(Sokoban(1, 6), 2000, 4)))
    assert rules.rewards.constant == -0.1
    assert [ending.goal for ending in rules.rewards.wins] == [(("all_on", "box", "target"),)]
    program, world = Program(source=emit(rules), rules=rules.dump()), Sokoban(6, 10)
    state, mission = world.reset(50_000)
    with ModelRunner() as runner, SolverProcess() as solver:
        plan = ModelPlanner(runner, [ClassicalSearch(solver, 30.0)]).plan(
            program, state, mission, world.actions
        )
    assert [world.step(action).done for action in plan.actions][-1]


def test_every_search_ends_when_it_is_cancelled():
    """In the sandbox, by the classical planner, among a learner's rules, and before any of them begins."""
    state, mission = Sokoban(2, 7).reset(5)
    program, actions = true_sokoban(), Sokoban.actions
    hanging = Program(
        source=program.source.replace(
            "def transition", "def transition(state, action):\n    while True: pass\n\ndef unused"
        )
    )
    data = wander(Sokoban(2, 7), 100, 1)

    def after(polls: int):
        count = itertools.count()
        return lambda: next(count) >= polls

    for polls in (0, 3):
        with ModelRunner(after(polls)) as runner, pytest.raises(Cancelled):
            runner.plan(hanging, state, mission, actions)
        with SolverProcess() as solver, pytest.raises(Cancelled):
            ClassicalSearch(solver, cancelled=after(polls))(program, state, mission, actions)
        with pytest.raises(Cancelled):
            Learner(cancelled=after(polls)).learn(data)


HOSTILE = """
def transition(state, action):
    return state
def reward(before, action, after, mission):
    return 0.0, False
def wc_pay(before, action, after, mission):
    return [10**400, False]
def wc_step(state, action):
    if action == "nest":
        value = ["a", 0, 0, {}]
        for _ in range(150):
            value = ["a", 0, 0, {"holds": value}]
        return [value]
    if action == "most":
        return [["a", 0, 0, {"x": "x" * ((1 << 23) - 100)}]]
    if action == "many":
        return [["a", 0, 0, {}] for _ in range(1000)]
    return state
def wc_plan_value(state, mission, actions, budget):
    return ["stay"] * 600_000
"""


def test_no_answer_of_a_program_is_more_than_wrong() -> None:
    state = state_of([entity("agent", 1, 1)])
    program = Program(source=HOSTILE)
    with ModelRunner() as runner:
        actions = ("stay", "nest", "most", "many")
        same, *answers = runner.predict(program, [(state, action) for action in actions])
        (paid,) = runner.pay(program, [(state, "stay", state, "")])
        assert runner.plan(program, state, "", ["stay"]) is None
    assert same == state
    for answer, words in zip(answers, ("deep", "more than", "more than"), strict=True):
        assert isinstance(answer, str) and words in answer
    assert paid == "result: not a reward and whether the episode ends"
