"""The tabletop as a Gymnasium environment."""

from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

import spca
from spca_core.errors import InputError
from spca_extras import gym
from spca_referee.level import list_levels


def test_every_level_is_registered() -> None:
    assert gym.PERIOD_S > 0  # importing the module is what registers
    ours = {name for name in gymnasium.registry if name.startswith("spca/Tabletop-")}
    assert ours == {f"spca/Tabletop-{level}-v1" for level in list_levels()}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"observe": "state"}, {"size": (48, 64), "robot": "panda"}])
def test_gymnasium_finds_nothing_to_complain_about(options: dict[str, object]) -> None:
    with closing(gymnasium.make("spca/Tabletop-stack_01-v1", **options).unwrapped) as env:
        check_env(env, skip_render_check=True)


def test_the_arm_goes_where_it_is_sent_within_its_limits() -> None:
    with closing(gymnasium.make("spca/Tabletop-touch_02-v1", observe="state")) as env:
        start, _ = env.reset(seed=3)
        before = start[:6]
        for count in range(14):
            action = np.zeros(7)
            action[0] = 1.0 if count < 2 else 0.0
            seen, _, terminated, truncated, info = env.step(action)
            assert np.abs(seen[:6] - before).max() <= 2.6 * 0.1 + 1e-3
            before = seen[:6]
            assert not (terminated or truncated) and info["outcome"] == "running"
        assert 0.1 < before[0] - start[0] < 2 * gym.REACH + 0.01
        assert before[1:] == pytest.approx(start[1:6], abs=0.01)


def test_touching_the_table_ends_the_level() -> None:
    with closing(gymnasium.make("spca/Tabletop-touch_02-v1", observe="state")) as env:
        env.reset(seed=0)
        for _ in range(40):
            *_, terminated, _, info = env.step(np.array([0, 1.0, 0, 0, 0, 0, -1.0]))
            if terminated:
                break
        assert terminated and info["outcome"] == "fail" and "table" in info["reason"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([0.0] * 6, r"shape \(6,\)"),
        ([np.nan] * 7, "NaN"),
        ({"preset": "wild"}, "wild"),
    ],
)
def test_an_action_or_a_preset_that_is_none_is_refused_in_a_sentence(wrong: Any, said: str) -> None:
    with closing(gymnasium.make("spca/Tabletop-touch_02-v1", observe="state").unwrapped) as env:
        env.reset(seed=0)
        with pytest.raises(InputError, match=said):
            env.reset(options=wrong) if isinstance(wrong, dict) else env.step(np.array(wrong))


def test_tables_side_by_side_are_those_of_one_process() -> None:
    """What the processes share changes nothing; without a seed, each lays a table of its own."""
    name, options = "spca/Tabletop-touch_02-v1", {"observe": "state", "preset": "shuffled"}
    with closing(gymnasium.make_vec(name, 2, max_episode_steps=3, **options)) as tables:
        assert isinstance(tables, AsyncVectorEnv)
        first, _ = tables.reset()
        assert not np.allclose(*first)
        begun, _ = tables.reset(seed=5)
        actions = tables.action_space.sample()
        for _ in range(3):
            seen, _, _, truncated, _ = tables.step(actions)
        assert truncated.all()
    with closing(gymnasium.make(name, **options)) as alone:
        for table, action in enumerate(actions):
            assert np.array_equal(begun[table], alone.reset(seed=5 + table)[0])
            last = [alone.step(action)[0] for _ in range(3)][-1]
            assert np.array_equal(seen[table], last)


@pytest.mark.slow
def test_a_policy_learns_on_the_table_of_a_session():
    """The same preset and seed lay the same table, whatever was laid before; a look sees it where it is."""
    name = "spca_extras.gym:spca/Tabletop-touch_02-v1"
    with closing(gymnasium.make(name, observe="state", preset="shuffled").unwrapped) as env:
        first, other, again = (env.reset(seed=seed)[0] for seed in (5, None, 5))
        poses = zip((thing.model for thing in env._world.objects), first[13:].reshape(-1, 7), strict=True)
        placed = {model.replace("box", "cube"): pose[:3] for model, pose in poses}
    assert np.array_equal(first, again) and not np.allclose(first, other)
    with spca.session(report=False, preset="shuffled", seed=5) as table:
        seen = {thing.id: thing.pose.position for thing in table.look().objects}
    assert seen.keys() == placed.keys()
    assert all(seen[thing] == pytest.approx(placed[thing], abs=0.01) for thing in seen)
