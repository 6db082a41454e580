"""That the selector learns, and what: on the world that docs/tutorials/plan_world.md shows."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spca_copic.episode import SelectorChoice, experience_of, run_episode
from spca_copic.evaluation import evaluate, unseen_cases
from spca_copic.pool import ProgramPool
from spca_copic.recipe import Recipe, TaskState
from spca_copic.run import CopicFolder, CopicRun
from spca_copic.training import Listener, train_task
from spca_core.errors import InputError
from spca_core.paths import ROOT
from spca_programs.factories import stand_in
from spca_programs.plan_world import PlanningProgram
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


def learned(world: PlanWorld, shuffle: bool = False) -> float:
    """Share of unseen cups found at once after some training, whose rewards may be shuffled."""
    selector, rng = HashedSelector(), np.random.default_rng(0)
    split = world.split("cups", 30, 0, 30, 0)
    with ProgramPool(programs(world), PATIENT_S) as pool:
        for _ in range(5):
            batch = []
            for case in split.train:
                batch += experience_of(run_episode(world, case, pool, SelectorChoice(selector, rng)))
            if shuffle:
                rewards = map(float, rng.permutation([sample.reward for sample in batch]))
                batch = [s.model_copy(update={"reward": r}) for s, r in zip(batch, rewards, strict=True)]
            selector.learn(batch)
        cases = unseen_cases(world, "cups", Recipe(episodes=30, held_out=3), 30)
        return float(np.mean([run_episode(world, c, pool, SelectorChoice(selector)).success for c in cases]))


def test_the_page_does_what_it_says(page: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks()[1], page)
    policies = {s.policy.split(" ")[0]: s.success for s in page["scores"]}
    assert policies["selector"] == 1.0
    assert policies["program"] == pytest.approx(1 / 3)
    assert "100 %" in capsys.readouterr().out


def test_another_hidden_table_leads_to_other_choices_and_a_shuffled_reward_to_none(
    page: dict[str, Any],
) -> None:
    other = {"red": "box", "blue": "shelf", "green": "drawer"}
    assert learned(page["Cupboards"](other)) == 1.0
    assert learned(page["Cupboards"](), shuffle=True) < 0.7


def test_a_selector_that_is_no_better_gives_way_to_the_best_program(page: dict[str, Any]) -> None:
    world = page["Cupboards"]()
    selector = HashedSelector(rate=1e-9)
    recipe = Recipe(trials=1, episodes=2, held_out=6, judged=6, deadline_s=PATIENT_S)
    state = train_task(world, "cups", GrammarPrograms(), selector, recipe)
    assert state.follow == state.best_single
    [score] = evaluate(world, state, selector, recipe, unseen_cases(world, "cups", recipe, 6))
    assert score.policy.endswith(f"following {state.follow}") and score.switch_interval > 0


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

    train_task(world, "cups", GrammarPrograms(), selector, recipe, listener=Listener(save=save))
    assert len(kept) > 2 and not kept[0].trials, "what was written is kept before the first trial"
    early, learned_so_far = CopicFolder.open(tmp_path / "early").load("cups") or (None, None)
    assert early is not None and len(early.trials) == 1
    state = train_task(world, "cups", GrammarPrograms(), learned_so_far, recipe, early)
    assert state.programs == kept[-1].programs and state.trials[-1].use == kept[-1].trials[-1].use
    assert [t.episodes for t in state.trials] == [t.episodes for t in kept[-1].trials]
    with pytest.raises(InputError, match="holds another training"):
        CopicFolder.create(CopicRun(world="other", tasks=(), recipe=recipe), folder.path)
