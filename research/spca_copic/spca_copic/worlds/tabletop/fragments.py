"""Fragments of programs for the table: see `spca_programs.grammar` for the form.

A goal is (cube, where): where is another object, `table`, or `hand` for lifting. Which cube and which place
the task's words mean, in which order a tower is told, and how much to do at once, is left open: each fragment
is one reading.
"""

COLOURS = ("red", "green", "blue", "yellow")
MOST = 5


def plan(observation, actions, task):
    """Actions towards the first goals that do not hold yet."""
    facts = {tuple(fact.split()) for fact in observation["facts"]}
    cubes = [name for name, kind in observation["objects"].items() if kind == "cube"]
    plates = [name for name, kind in observation["objects"].items() if kind == "plate"]
    world = {
        "facts": facts,
        "cubes": cubes,
        "plates": plates,
        "words": words_of(task),
        "memory": observation["memory"],
    }
    steps = []
    for cube, where in goals(world):
        if holds(world, cube, where):
            continue
        steps += achieve(world, cube, where)
        if not ahead(world):
            break
    return steps[:MOST]


def words_of(task):
    """The task's words in lower case, in order."""
    return "".join(c if c.isalnum() else " " for c in task.lower()).split()


def colours(world):
    """The colours that the task names, each once, in the order in which it names them."""
    return list(dict.fromkeys(word for word in world["words"] if word in COLOURS))


def holds(world, cube, where):
    """Whether a goal is seen to hold."""
    return ("held", cube) in world["facts"] if where == "hand" else ("on", cube, where) in world["facts"]


def below(world, cube):
    """What a cube rests on."""
    return next((f[2] for f in world["facts"] if f[0] == "on" and f[1] == cube), "table")


def achieve(world, cube, where):
    """Steps from here to one goal."""
    held = next((f[1] for f in world["facts"] if f[0] == "held"), None)
    steps = []
    if held != cube:
        steps += ["place_on_table " + held] if held and empty_hand(world) else []
        steps += clearing(world, cube)
        steps.append("pick_up " + cube + " " + below(world, cube))
    if where == "hand":
        return steps
    steps += clearing(world, where)
    if where in world["plates"]:
        return [*steps, "place_on " + cube + " " + where]
    return [*steps, "place_on_table " + cube if where == "table" else "stack_on " + cube + " " + where]


def goals(world):
    """What the task asks for: a tower, a cube on something, or a cube in the hand."""
    words = world["words"]
    if "tower" in words or "stack" in words:
        named = ["cube_" + colour for colour in colours(world) if "cube_" + colour in world["cubes"]]
        tower = order(world, named)
        return [(tower[k + 1], tower[k]) for k in range(len(tower) - 1)]
    if "plate" in words:
        cube = subject(world)
        return [(cube, place(world, cube))]
    return [(subject(world), "hand")]


def order__as_told(world, named):
    """A tower from bottom to top: as the task names its cubes."""
    return named


def order__backwards(world, named):
    """The cube that is named first is the one on top. Mends: violation, step_limit."""
    return named[::-1]


def subject__coloured(world):
    """Which cube is meant: the one of the first colour named; without a colour, any. Mends: violation."""
    named = ["cube_" + c for c in colours(world) if "cube_" + c in world["cubes"]]
    return (named or sorted(world["cubes"]))[0]


def subject__placed(world):
    """The one where the task says (left, middle, right); without such words, any. Mends: step_limit."""
    signs = {"left": "leftmost", "right": "rightmost", "middle": "middle"}
    sign = next((signs[word] for word in world["words"] if word in signs), "leftmost")
    return next((c for c in world["cubes"] if (sign, c) in world["facts"]), sorted(world["cubes"])[0])


def subject__nearest(world):
    """The one that is nearest to the robot."""
    return next((c for c in world["cubes"] if ("nearest", c) in world["facts"]), sorted(world["cubes"])[0])


def place__own_colour(world, cube):
    """Which plate is meant: the one of the cube's colour."""
    return "plate_" + cube.split("_")[1]


def place__last_colour(world, cube):
    """The one of the colour that is named last before "plate". Mends: violation, step_limit."""
    words = world["words"]
    at = words.index("plate")
    named = [word for word in words[:at] if word in COLOURS]
    return "plate_" + named[-1] if named else place_any(world)


def place_any(world):
    """Some plate."""
    return sorted(world["plates"])[0]


def clearing__direct(world, thing):
    """Before something is taken or put there: nothing is moved out of the way."""
    return []


def clearing__first(world, thing):
    """The cube that lies on a cube is put on the table. Mends: precondition, no_effect."""
    if thing not in world["cubes"]:
        return []
    upper = next((f[1] for f in world["facts"] if f[0] == "on" and f[2] == thing), None)
    return (
        [*clearing(world, upper), "pick_up " + upper + " " + thing, "place_on_table " + upper]
        if upper
        else []
    )


def empty_hand__ignore(world):
    """Something else is in the hand: it is let go wherever that is."""
    return False


def empty_hand__put_down(world):
    """It is put on the table first. Mends: precondition, no_effect."""
    return True


def ahead__one(world):
    """How far to plan: one goal, then look again. Mends: no_effect."""
    return False


def ahead__all(world):
    """All goals at once, trusting that each works."""
    return True
