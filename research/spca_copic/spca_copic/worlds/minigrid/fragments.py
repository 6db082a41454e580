"""Fragments of programs for MiniGrid: see `spca_programs.grammar` for the form.

A goal is (verb, thing, other). How the mission is read, which thing is meant, in which order, and whether to
look for it first, is left open: each fragment is one reading.
"""

MOST = 5


def plan(observation, actions, task):
    """Actions for the mission's clauses, one after the other."""
    world = {
        "objects": observation["objects"],
        "facts": {tuple(fact.split()) for fact in observation["facts"]},
        "done": [action for step in observation["memory"] for action in step["plan"]],
    }
    steps = []
    for clause in order(clauses(task)):
        names = things(world, clause)
        if names:
            steps += [*before(world, names[0]), *act(world, clause, names), *after(world, names[0])]
    steps = [step for step in steps if step not in world["done"]] or steps[-1:]
    return steps[:MOST]


def clauses(task):
    """The mission's parts, in the order in which it names them; `after you` puts the later one first."""
    words = task.lower().replace(",", "").replace(".", "").replace("object", "thing").split()
    parts = [[]]
    for word in words:
        if word in ("then", "after"):
            parts.append([word] if word == "after" else [])
        elif not (word == "and" and len(parts[-1]) > 2):
            parts[-1].append(word)
        else:
            parts.append([])
    return [part for part in parts if part]


def kind_words(name):
    """The words of a name: red_key, key_red_1 → red, key."""
    return [word for word in name.split("_") if not word.isdigit()]


def named(world, clause, numbered):
    """Names whose words all occur in a clause, in its order; those with a number, or those without."""
    found = [
        name
        for name in world["objects"]
        if name.split("_")[-1].isdigit() == numbered and all(word in clause for word in kind_words(name))
    ]
    return sorted(found, key=lambda name: clause.index(kind_words(name)[-1 if not numbered else 0]))


def order__as_told(parts):
    """In which order: as the mission names the parts."""
    return parts


def order__by_time(parts):
    """What comes after the word `after` is done first. Mends: violation, step_limit."""
    return sorted(parts, key=lambda part: part[0] != "after")


def things__named(world, clause):
    """Which things are meant: those that the mission's own names stand for. Mends: not_found, step_limit."""
    return named(world, clause, False)


def things__seen(world, clause):
    """Only what has been seen."""
    return named(world, clause, True)


def things__any(world, clause):
    """Anything of the right kind."""
    kinds = [word for word in clause if word in world["objects"].values()]
    return [name for kind in kinds for name, other in world["objects"].items() if other == kind]


def act__visit(world, clause, names):
    """What to do with a thing: go there."""
    return ["go_to " + names[0]]


def act__by_verb(world, clause, names):
    """What the verb says: open, put, take; else go there. Mends: step_limit, no_effect."""
    if "open" in clause:
        return ["open_door " + names[0]]
    if "put" in clause:
        return place(world, names)
    if "pick" in clause or "get" in clause or "fetch" in clause:
        return ["pick_up " + names[0]]
    return ["go_to " + names[0]]


def act__take(world, clause, names):
    """Take it. Mends: step_limit."""
    return ["pick_up " + names[0]]


def place__only(world, names):
    """Putting one thing next to another: the skill does it all."""
    return ["put_next_to " + names[0] + " " + names[-1]]


def place__drop(world, names):
    """Take it, go there, put it down."""
    return ["pick_up " + names[0], "go_to " + names[-1], "put_down " + names[0]]


def before__nothing(world, name):
    """Before acting: nothing."""
    return []


def before__find(world, name):
    """Look for it first. Mends: not_found, precondition."""
    return [] if ("located", name) in world["facts"] else ["find " + name]


def after__nothing(world, name):
    """Afterwards: nothing."""
    return []


def after__report(world, name):
    """Say that one has arrived, where that is wanted. Mends: step_limit, no_effect."""
    return ["report " + name] if ("report_wanted",) in world["facts"] else []
