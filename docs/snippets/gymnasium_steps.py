"""A few steps of the tabletop as a Gymnasium environment."""

import gymnasium

import spca_extras.gym  # noqa: F401  (registers the levels)


def main() -> None:
    """Turn the base a little, and print what the referee says."""
    env = gymnasium.make("spca/Tabletop-touch_02-v1")
    observation, info = env.reset(seed=1)
    for _ in range(3):  # the base a little to the left, the gripper open
        observation, _reward, _terminated, _truncated, info = env.step([0.5, 0, 0, 0, 0, 0, 1.0])
    print(info["outcome"], observation["joints"].round(2))
    env.close()


if __name__ == "__main__":
    main()
