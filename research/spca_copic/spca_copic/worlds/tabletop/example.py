"""A program for another task: touch the red plate."""


def plan(observation, actions, task):
    """Touch the plate whose colour the task names."""
    words = task.lower().replace(".", " ").split()
    for name, kind in observation["objects"].items():
        if kind == "plate" and name.split("_")[1] in words:
            return ["touch " + name]
    return []
