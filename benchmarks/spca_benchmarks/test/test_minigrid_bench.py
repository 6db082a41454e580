"""Measuring MiniGrid: references, the bench, and how trials end."""

import copy
import importlib.util
from pathlib import Path

import pytest

from spca_benchmarks.campaigns.engine import run_campaign
from spca_benchmarks.minigrid.bench import MinigridBench, MinigridTrial
from spca_benchmarks.minigrid.learning.bench import RlBench
from spca_benchmarks.minigrid.shortest import shortest
from spca_core.errors import InputError
from spca_minigrid.ending import EpisodeEnding
from spca_minigrid.levels import find_level
from spca_minigrid.mission import parse_mission
from spca_minigrid.world import GridWorld


@pytest.mark.parametrize(
    ("env", "seed", "steps"),
    [
        ("MiniGrid-Empty-5x5-v0", 0, 5),
        ("MiniGrid-DistShift1-v0", 0, 13),
        ("MiniGrid-DoorKey-5x5-v0", 1, None),
        ("BabyAI-PutNextS4N1-v0", 0, None),
    ],
)
def test_the_reference_is_the_shortest(env: str, seed: int, steps: int | None) -> None:
    """Against known lengths, and against trying every sequence of primitives in the real world."""
    world = GridWorld(env, seed)
    found = shortest(world, parse_mission(world.mission))
    assert found == (by_trying(env, seed, found) if steps is None else steps)


def by_trying(env: str, seed: int, at_most: int) -> int | None:
    """Breadth-first over the real environment's states."""
    start = GridWorld(env, seed).env
    edge, seen = [start], {state(start)}
    for length in range(1, at_most + 1):
        following = []
        for world in edge:
            for primitive in range(6):
                after = copy.deepcopy(world)
                _, reward, over, _, _ = after.step(primitive)
                if over and reward > 0:
                    return length
                if not over and state(after) not in seen:
                    seen.add(state(after))
                    following.append(after)
        edge = following
    return None


def state(env) -> tuple:
    held = None if env.carrying is None else env.carrying.encode()
    return env.grid.encode().tobytes(), tuple(int(v) for v in env.agent_pos), env.agent_dir, held


@pytest.mark.slow
def test_a_minigrid_trial_says_how_it_ended(tmp_path) -> None:
    trial = MinigridTrial(level=find_level("MiniGrid-Empty-5x5"), seed=0)
    good = MinigridBench().run_trial(trial, tmp_path)
    assert good.ended.ending is EpisodeEnding.SUCCESS and good.sim == 5 and good.ratio == 1.0
    bad = MinigridBench(skills="empty", library=tmp_path / "library").run_trial(trial, tmp_path)
    assert bad.ended.ending is EpisodeEnding.MISSING_SKILL and "enter" in bad.ended.why
    assert (tmp_path / bad.run / "result.json").is_file()


@pytest.mark.slow
def test_ppo_learns_one_maze_and_the_episodes_are_counted(tmp_path: Path) -> None:
    bench = RlBench(environments=("MiniGrid-Empty-5x5-v0",), episodes=4000, seeds=1)
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(InputError, match="needs torch"):
            run_campaign(bench, tmp_path / "c", workers=1)
        return
    campaign = run_campaign(bench, tmp_path / "c", workers=1)
    result = campaign.done[0].result
    assert 500 <= result.to["0.7"] <= result.to["0.99"] == result.episodes < 4000
    assert result.curve[-1][1] >= 0.99
