"""That the selector learns, and what: on the world that docs/tutorials/plan_world.md shows."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spca_copic.episode import RandomChoice, SelectorChoice, experience_of, run_episode
from spca_copic.evaluation import evaluate, unseen_cases
from spca_copic.pool import ProgramPool
from spca_copic.recipe import Outcome, Recipe, TaskState
from spca_copic.rollouts import TryingChoice, keep_best
from spca_copic.run import CopicFolder, CopicRun, open_world, train_run
from spca_copic.terminal import train_command
from spca_copic.training import Listener, train_task
from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_core.result import Usage
from spca_programs.factories import stand_in
from spca_programs.plan_world import ActionSequence, Case, PlanningProgram, Situation, Transition
from spca_programs.ports.plan_world import PlanWorld

PAGE = ROOT / "docs" / "tutorials" / "plan_world.md"
PATIENT_S = 5.0  # a busy machine shall not decide what is learned
GrammarPrograms, HashedSelector = stand_in("grammar"), stand_in("hashed")


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", Path(PAGE).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The names of the page's world."""
    names: dict[str, Any] = {}
    exec(blocks()[0], names)
    return names


def programs(world: PlanWorld) -> list[PlanningProgram]:
    """One for each place."""
    written = GrammarPrograms().write(world.briefing("cups"), 3, 0)
    return sorted(written, key=lambda program: program.fragments["place"], reverse=True)


def learned(world: PlanWorld, shuffle: bool = False, rounds: int = 5, tried: float = 0.0) -> float:
    """Share of unseen cups found at once after some training.

    Rewards are shuffled between the choices or not, and what was tried out between the candidates.
    """
    recipe = Recipe(episodes=30, held_out=3)
    selector = HashedSelector()
    rng = np.random.default_rng(0)
    split = world.split("cups", 30, 0, 30, 0)
    with ProgramPool(programs(world), PATIENT_S) as pool:
        for _ in range(rounds):
            batch = []
            choice = TryingChoice(SelectorChoice(selector, rng), tried, np.random.default_rng(1))
            for case in split.train:
                batch += experience_of(run_episode(world, case, pool, choice), choice.outcomes)
            if shuffle and tried:
                batch = [
                    s.model_copy(update={"outcomes": tuple(rng.permutation(s.outcomes).tolist())})
                    for s in batch
                ]
            elif shuffle:
                rewards = rng.permutation([sample.reward for sample in batch])
                batch = [
                    s.model_copy(update={"reward": float(r)}) for s, r in zip(batch, rewards, strict=True)
                ]
            selector.learn(batch)
        cases = unseen_cases(world, "cups", recipe, 30)
        return float(np.mean([run_episode(world, c, pool, SelectorChoice(selector)).success for c in cases]))


class Counting:
    """The world, with its own count of what is done in it."""

    def __init__(self, world: PlanWorld) -> None:
        self._world, self.steps, self.begun = world, 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    def reset(self, case: Case) -> Situation:
        self.begun += 1
        return self._world.reset(case)

    def step(self, plan: ActionSequence) -> Transition:
        self.steps += 1
        return self._world.step(plan)


def test_the_page_does_what_it_says(page: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks()[1], page)
    policies = {s.policy.split(" ")[0]: s.success for s in page["scores"]}
    assert policies["selector"] == 1.0
    assert policies["program"] == pytest.approx(1 / 3)
    assert "100 %" in capsys.readouterr().out


@pytest.mark.parametrize("tried", [0.0, 1.0])
def test_another_hidden_table_leads_to_other_choices(page: dict[str, Any], tried: float) -> None:
    assert learned(page["Cupboards"](), tried=tried) == 1.0
    other = {"red": "box", "blue": "shelf", "green": "drawer"}
    assert learned(page["Cupboards"](other), tried=tried) == 1.0


@pytest.mark.parametrize("tried", [0.0, pytest.param(1.0, marks=pytest.mark.full)])
def test_a_shuffled_reward_teaches_nothing(page: dict[str, Any], tried: float) -> None:
    assert learned(page["Cupboards"](), shuffle=True, tried=tried) < 0.7


def test_the_programs_that_stay_complete_each_other() -> None:
    sources = {"best": "# 1", "same": "# 2", "other": "# 3", "poor": "# 4", "bad": "# 5"}
    programs = {name: PlanningProgram(source=source) for name, source in sources.items()}
    rewards = {"best": (1, 1, 0), "same": (1, 1, 0), "other": (0, 0, 1), "poor": (1, 0, 0), "bad": (0, 0, 0)}
    outcomes = {programs[n].id: [Outcome(r > 0, r) for r in came] for n, came in rewards.items()}
    kept = keep_best(list(programs.values()), outcomes, 3)
    assert kept == (programs["best"], programs["other"], programs["poor"])


def test_trying_candidates_out_tells_their_rewards_and_changes_nothing(page: dict[str, Any]) -> None:
    world = page["Cupboards"]()
    cases = world.split("cups", 6, 0, 0, 0).train
    chooser = TryingChoice(RandomChoice(), 1.0, np.random.default_rng(0))
    with ProgramPool(programs(world), PATIENT_S) as pool:
        for case in cases:
            episode = run_episode(world, case, pool, chooser)
            first = episode.decisions[0]
            right = [c.plan == ("open " + page["HABIT"][case.name.split()[0]],) for c in first.candidates]
            assert chooser.outcomes[0] == tuple(float(r) for r in right)
            assert episode.success == right[first.chosen]


def test_a_selector_that_is_no_better_gives_way_to_the_best_program(page: dict[str, Any]) -> None:
    world = page["Cupboards"]()
    selector = HashedSelector(rate=1e-9)
    recipe = Recipe(trials=1, episodes=2, held_out=6, judged=6, deadline_s=PATIENT_S)
    state = train_task(world, "cups", GrammarPrograms(), selector, recipe)
    assert state.follow == state.best_single
    [score] = evaluate(world, state, selector, recipe, unseen_cases(world, "cups", recipe, 6))
    assert score.policy.endswith(f"following {state.follow}") and score.switch_interval > 0


def test_as_published_only_the_trials_own_episodes_are_played(page: dict[str, Any]) -> None:
    """And under a frozen selector nothing is learned from them, and other programs are written."""
    recipe = Recipe(trials=2, episodes=6, published=True, frozen="there", threshold=1.0, deadline_s=PATIENT_S)
    state = train_task(page["Cupboards"](), "cups", GrammarPrograms(), HashedSelector(), recipe)
    use = state.trials[-1].use
    assert (use.resets, use.restores) == (6 * len(state.trials), 0)
    assert use.plans == state.trials[-1].steps
    assert not state.follow and all(trial.entropy is None for trial in state.trials)


def test_a_learned_selector_is_frozen_over_new_programs(tmp_path: Path) -> None:
    """Learned on the very cases of the test, if that is asked for."""
    world, recipe = (
        open_world("build_order"),
        Recipe(trials=1, episodes=2, published=True, on_test_cases=True),
    )

    def trained(name: str, recipe: Recipe) -> CopicFolder:
        run = CopicRun(world="build_order", tasks=("easy",), recipe=recipe)
        train_run(folder := CopicFolder.create(run, tmp_path / name), world)
        return folder

    first = trained("first", recipe)
    under = recipe.model_copy(update={"frozen": str(first.path)})
    second = trained("second", under)
    state, other = first.trained("easy")[0], second.trained("easy")[0]
    played = sorted(episode.case.name for episode in state.recent)
    assert played == sorted(case.name for case in unseen_cases(world, "easy", recipe, 2))
    assert {p.id for p in state.all_programs}.isdisjoint(p.id for p in other.programs)
    (weights,) = (tmp_path / "first" / "easy").glob("selector-*")
    (same,) = (tmp_path / "second" / "easy").glob("selector-*")
    assert weights.read_bytes() == same.read_bytes()
    with pytest.raises(InputError, match="has a selector 'hashed'"):
        trained("third", under.model_copy(update={"selector": "language"}))


class Paid(GrammarPrograms):  # type: ignore[misc]
    """What it is asked for costs as many tokens as it writes programs."""

    usage = Usage()

    def write(self, *asked: Any) -> list[PlanningProgram]:
        return self._paid(super().write(*asked))

    def evolve(self, *asked: Any) -> list[PlanningProgram]:
        return self._paid(super().evolve(*asked))

    def _paid(self, made: list[PlanningProgram]) -> list[PlanningProgram]:
        self.usage = Usage(input_tokens=self.usage.input_tokens + len(made))
        return made


def test_a_training_that_was_interrupted_goes_on_to_the_same_end(
    page: dict[str, Any], tmp_path: Path
) -> None:
    world = page["Cupboards"]()
    recipe = Recipe(trials=3, episodes=12, held_out=3, horizon=20, threshold=1.0, deadline_s=PATIENT_S)
    folder = CopicFolder.create(CopicRun(world="page", tasks=("cups",), recipe=recipe), tmp_path / "run")
    selector, kept = HashedSelector(), []

    def save(state: TaskState) -> None:
        folder.save(state, selector)
        if len(state.trials) == 1:
            shutil.copytree(folder.path, tmp_path / "early")
        kept.append(state)

    train_task(world, "cups", Paid(), selector, recipe, listener=Listener(save=save))
    assert len(kept) > 2 and not kept[0].trials, "what was written is kept before the first trial"
    loaded = CopicFolder.open(tmp_path / "early").load("cups")
    assert loaded is not None and len(loaded[0].trials) == 1
    counted = Counting(world)
    state = train_task(counted, "cups", Paid(), loaded[1], recipe, loaded[0])
    assert state.trials[-1].usage == kept[-1].trials[-1].usage
    assert 0 < state.written.input_tokens <= state.trials[-1].usage.input_tokens
    begun, use = loaded[0].trials[-1].use, state.trials[-1].use
    assert (use.plans - begun.plans, use.resets - begun.resets) == (counted.steps, counted.begun)
    assert use == kept[-1].trials[-1].use and use.restores > 0
    assert use.plans > state.trials[-1].steps
    assert state.programs == kept[-1].programs
    assert [t.episodes for t in state.trials] == [t.episodes for t in kept[-1].trials]
    with pytest.raises(InputError, match="holds another training"):
        CopicFolder.create(CopicRun(world="other", tasks=(), recipe=recipe), folder.path)


def test_a_refused_training_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown proposer 'nobody'"):
        train_command("build_order", [], Recipe(proposer="nobody"), "", tmp_path / "run")
    assert not (tmp_path / "run").exists()
