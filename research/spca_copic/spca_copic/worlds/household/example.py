"""A program for another task: open a drawer."""


def plan(observation, actions, task):
    """Go to the first closed drawer and open it."""
    for name, receptacle in observation["receptacles"].items():
        if receptacle["kind"] == "drawer" and not receptacle["open"]:
            return ["goto " + name, "open " + name]
    return []
