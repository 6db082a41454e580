"""The tabletop as a Gymnasium environment."""

from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

from spca_core.errors import InputError
from spca_extras import gym


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
