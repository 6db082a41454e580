"""Fragments of programs for NetHack: see `spca_standins.grammar` for the form.

When to fight, to rest, to go deeper, and how to open what is locked are left open: each fragment is one way.
"""


def plan(observation, actions, task):
    """What is urgent, then the goal, then the search for it."""
    for decide in (health, danger, goal, loot, look):
        steps = decide(observation)
        if steps:
            return steps
    return stuck(observation)


def share(observation):
    """Hit points as a share of the most, 0-1."""
    return observation["stats"]["hp"] / max(1, observation["stats"]["max_hp"])


def can_reach(observation, kind):
    """Whether there is a way to such a place."""
    return observation["known"].get(kind, -1) >= 0


def tried(observation, action):
    """How many of the last plans had that action."""
    return sum(action in step["plan"] for step in observation["memory"])


def goal(observation):
    """Towards what the task is about, if it is known."""
    kind = {"drink": "fountain", "open": "box"}.get(observation["goal"])
    if kind is None or not (observation["here"] == kind or can_reach(observation, kind)):
        return []
    go = [] if observation["here"] == kind else ["goto " + kind]
    if kind == "fountain":
        return [*go, "drink"]
    locked = any("locked" in remark["text"] for step in observation["memory"] for remark in step["remarks"])
    return unlock(observation, go) if locked else [*go, "open_box"]


def prayer(observation):
    """A prayer with less than a seventh of the hit points, once."""
    desperate = share(observation) < 1 / 7 or observation["stats"]["hp"] < 6
    return ["pray"] if desperate and not tried(observation, "pray") else []


def rest(observation, enough):
    """A rest with less than that share of the hit points, while nobody is there."""
    quiet = not observation["near"] and not observation["far"]
    return ["rest"] if quiet and share(observation) < enough else []


def explored(observation):
    """The next unexplored place, if there is one."""
    return ["explore"] if observation["unexplored"] else []


def down(observation):
    """Down, if the stairs are known."""
    return ["descend"] if can_reach(observation, "stairs_down") else []


def danger__ignored(observation):
    """Monsters: they are let be."""
    return []


def danger__beside(observation):
    """Those next to the hero are fought. Mends: step_limit, violation, no_effect."""
    return ["fight"] if any(monster["distance"] <= 1 for monster in observation["near"]) else []


def danger__near(observation):
    """Those within three squares are fought. Mends: step_limit, violation, no_effect."""
    return ["fight"] if observation["near"] else []


def danger__hunted(observation):
    """All in sight are fought while the hero is well. Mends: step_limit."""
    well = share(observation) > 0.5
    return ["fight"] if observation["near"] or (observation["far"] and well) else []


def health__none(observation):
    """Wounds: they are ignored."""
    return []


def health__rested(observation):
    """Rest with less than two thirds, while nobody is there. Mends: violation."""
    return rest(observation, 0.67)


def health__prayed(observation):
    """Pray with less than a seventh, once. Mends: violation."""
    return prayer(observation)


def health__both(observation):
    """Pray when desperate, rest when it is quiet. Mends: violation."""
    return prayer(observation) or rest(observation, 0.5)


def loot__left(observation):
    """Things that lie about: they are left."""
    return []


def loot__taken(observation):
    """They are picked up."""
    if observation["here"] == "item" and not tried(observation, "pick_up"):
        return ["pick_up"]
    close = 0 <= observation["known"].get("item", -1) <= 5
    return ["goto item", "pick_up"] if close and not tried(observation, "pick_up") else []


def look__thorough(observation):
    """Where to look: all of a level, then down. Mends: violation."""
    return explored(observation) or down(observation)


def look__hasty(observation):
    """Down as soon as there is a way. Mends: step_limit."""
    return down(observation) or explored(observation)


def look__shallow(observation):
    """All of each level, and not below the second. Mends: violation."""
    deep = observation["stats"]["depth"] >= 2
    return explored(observation) or ([] if deep else down(observation))


def look__bold(observation):
    """Down to the fourth level at once, then all of it. Mends: step_limit."""
    bold = down(observation) if observation["stats"]["depth"] < 4 else []
    return bold or explored(observation) or down(observation)


def stuck__search(observation):
    """Nothing is left to explore: search for hidden doors."""
    return ["search"]


def stuck__kick(observation):
    """Kick locked doors, then search. Mends: not_found, step_limit."""
    return ["kick_door"] if observation["locked"] and tried(observation, "kick_door") < 3 else ["search"]


def stuck__down(observation):
    """Down, or search. Mends: step_limit, no_effect."""
    return down(observation) or ["search"]


def unlock__kicked(observation, go):
    """A locked box: it is kicked."""
    return ["kick_box", "goto box", "open_box"]


def unlock__forced(observation, go):
    """Its lock is forced with the sword. Mends: precondition."""
    return [*go, "force_lock", "open_box"]


def unlock__left(observation, go):
    """It is left. Mends: no_effect."""
    return []
