"""Train PPO of stable-baselines3 to do a level with the joints alone, and see how often it does.

    pip install stable-baselines3
    python examples/policies/ppo.py touch_02 --steps 100000

The observation is the state of the simulator, the reward is dense; an episode ends after 150 steps (15 s).
No test runs this: stable-baselines3 is no dependency of spca.
"""

from __future__ import annotations

import argparse

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import spca_extras.gym  # noqa: F401  (registers the levels)


def main() -> None:
    """Train, and print the share of successes before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("level")
    parser.add_argument("--preset", default="shuffled")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--save", default="ppo.zip", help="where the policy is kept")
    arguments = parser.parse_args()

    def make() -> gymnasium.Env:
        name, limit = f"spca/Tabletop-{arguments.level}-v1", 150
        table = gymnasium.make(name, limit, preset=arguments.preset, observe="state", reward="dense")
        return Monitor(table)  # so that the mean return is in the log

    tables = VecNormalize(DummyVecEnv([make]), gamma=0.98)
    tables.seed(1)
    policy = PPO(
        "MlpPolicy",
        tables,
        learning_rate=1e-3,
        n_steps=2048,
        batch_size=256,
        gamma=0.98,
        policy_kwargs={"log_std_init": -1.0},
        seed=1,
        device="cpu",
        verbose=1,
    )
    print(f"before: {successes(policy, tables):.0%} of 40 tables are solved")
    policy.learn(arguments.steps)
    policy.save(arguments.save)
    print(f"after {policy.num_timesteps} steps: {successes(policy, tables):.0%} of 40 tables are solved")
    tables.close()


def successes(policy: PPO, tables: VecNormalize, episodes: int = 40) -> float:
    """The share of episodes that the referee calls a success, with the policy's most likely actions."""
    tables.training = False
    solved, seen = 0, tables.reset()
    for _ in range(episodes):
        done = [False]
        while not done[0]:
            seen, _, done, infos = tables.step(policy.predict(seen, deterministic=True)[0])
        solved += infos[0]["outcome"] == "success"
    tables.training = True
    return solved / episodes


if __name__ == "__main__":
    main()
