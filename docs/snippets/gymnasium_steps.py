"""A few steps of the tabletop as a Gymnasium environment."""

import gymnasium

import spca_tabletop.gym  # noqa: F401  (registers the levels)


def main() -> None:
    """Turn the base a little, and print what the referee says."""
    env = gymnasium.make("spca/Tabletop-touch_02-v0")
    observation, info = env.reset(seed=1)
    action = [*observation["joints"], 0.085]
    action[0] += 0.2
    for _ in range(5):
        observation, _reward, _terminated, _truncated, info = env.step(action)
    print(info["outcome"], observation["joints"].round(2))
    env.close()


if __name__ == "__main__":
    main()
