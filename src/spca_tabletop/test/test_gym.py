"""The tabletop as a Gymnasium environment."""

from __future__ import annotations

from contextlib import closing

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from spca_core.errors import InputError
from spca_referee.level import list_levels
from spca_tabletop import gym


def test_every_level_is_registered() -> None:
    assert gym.PERIOD_S > 0  # importing the module is what registers
    ours = {name for name in gymnasium.registry if name.startswith("spca/Tabletop-")}
    assert ours == {f"spca/Tabletop-{level}-v0" for level in list_levels()}


@pytest.mark.slow
def test_gymnasium_finds_nothing_to_complain_about() -> None:
    with closing(gymnasium.make("spca/Tabletop-stack_01-v0").unwrapped) as env:
        check_env(env, skip_render_check=True)


def test_the_arm_goes_where_it_is_sent_within_its_limits() -> None:
    with closing(gymnasium.make("spca/Tabletop-touch_02-v0")) as env:
        seen, _ = env.reset(seed=3)
        target = seen["joints"] + np.array([0.3, 0, 0, 0, 0, 0])
        before = seen["joints"]
        for _ in range(12):
            seen, reward, terminated, truncated, info = env.step(np.append(target, 0.04))
            assert np.abs(seen["joints"] - before).max() <= 2.6 * 0.1 + 1e-3
            before = seen["joints"]
            assert not (terminated or truncated) and info["outcome"] == "running" and reward <= 1
        assert seen["joints"] == pytest.approx(target, abs=0.01)
        assert seen["gripper"] == pytest.approx([0.04], abs=0.004)


def test_touching_the_table_ends_the_level() -> None:
    with closing(gymnasium.make("spca/Tabletop-touch_02-v0")) as env:
        seen, _ = env.reset(seed=0)
        down = seen["joints"] + np.array([0.0, 1.2, 0, 0, 0, 0])
        for _ in range(40):
            *_, terminated, _, info = env.step(np.append(down, 0.0))
            if terminated:
                break
        assert terminated and info["outcome"] == "fail" and "table" in info["reason"]


def test_an_unknown_preset_is_refused() -> None:
    with closing(gymnasium.make("spca/Tabletop-touch_02-v0")) as env, pytest.raises(InputError, match="wild"):
        env.reset(options={"preset": "wild"})
