"""A program for another mission: get to the green goal square."""


def plan(observation, actions, task):
    """Enter the square that the mission names."""
    squares = [name for name, kind in observation["objects"].items() if kind == "square"]
    return ["enter " + squares[-1]] if squares else []
