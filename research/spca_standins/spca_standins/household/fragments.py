"""Fragments of programs for the household: see `spca_standins.grammar` for the form.

Where to look first, whether to open what is closed, how to treat a thing and how to put it down are left
open: each fragment is one way. None knows where the people of this house keep anything.
"""

TREATMENTS = {
    "Clean": ("clean", "sinkbasin", "clean"),
    "Heat": ("heat", "microwave", "hot"),
    "Cool": ("cool", "fridge", "cool"),
}
APPLIANCES = ("fridge", "microwave", "sinkbasin", "stoveburner", "coffeemachine", "safe", "garbagecan")
SURFACES = ("countertop", "diningtable", "desk", "sidetable", "bed", "armchair", "stoveburner", "sinkbasin")
BOARDS = ("kitchenshelf", "shelf", "dresser", "wardrobe")
DRAWERS = ("kitchendrawer", "drawer")


def plan(observation, actions, task):
    """Look for the thing; with it in hand, treat it and bring it where it belongs."""
    room = {
        "at": observation["at"],
        "receptacles": observation["receptacles"],
        "thing": observation["thing"],
        "place": observation["place"],
        "held": observation["held"],
        "held_is": observation["held_is"],
    }
    if room["held"] and kind(room["held"]) == room["thing"]:
        return bring(room, task)
    for name, receptacle in room["receptacles"].items():
        for item in receptacle.get("contents", []):
            if kind(item) == room["thing"] and wanted(room, name):
                return [*reach(room, name), "take " + item + " " + name]
    return search(room)


def kind(name):
    """The kind of a thing or receptacle."""
    return name.rpartition("_")[0]


def reach(room, name):
    """Go there, unless one is there."""
    return [] if room["at"] == name else ["goto " + name]


def unseen(room):
    """Receptacles whose contents are not known."""
    return [name for name, r in room["receptacles"].items() if "contents" not in r]


def by_kinds(room, kinds):
    """Receptacles that were not looked into: kind by kind, then the rest, kinds with few of them first."""
    order = {}
    for name in room["receptacles"]:
        order[kind(name)] = order.get(kind(name), 0) + 1
    order.update({name: k - len(kinds) for k, name in enumerate(kinds)})
    return sorted(unseen(room), key=lambda name: (order[kind(name)], kind(name)))


def search(room):
    """Look into the next receptacle."""
    for name in places(room):
        receptacle = room["receptacles"][name]
        if receptacle["open"] and room["at"] != name:
            return ["goto " + name]
        if not receptacle["open"]:
            steps = [*reach(room, name), *opening(name)]
            if steps:
                return steps
    return []


def bring(room, task):
    """The held thing to its treatment, then to its place; or to the lamp."""
    steps = treatment(room, TREATMENTS.get(task.split()[0]))
    if not room["place"]:
        for name, receptacle in room["receptacles"].items():
            for item in receptacle.get("contents", []):
                if kind(item) == "desklamp":
                    return [*steps, *reach(room, name), "use " + item]
        return lamp(room)
    name = target(room)
    closed = not room["receptacles"][name]["open"]
    go = ["goto " + name] if steps else reach(room, name)
    return [*steps, *go, *(delivery(name) if closed else []), "put " + room["held"] + " " + name]


def places__listed(room):
    """In which order receptacles are looked into: as they are listed."""
    return unseen(room)


def places__surfaces(room):
    """Tables and the like first: nothing has to be opened."""
    return by_kinds(room, SURFACES)


def places__appliances(room):
    """Appliances and other single things first. Mends: step_limit."""
    return by_kinds(room, APPLIANCES)


def places__boards(room):
    """Shelves and wardrobes first. Mends: step_limit."""
    return by_kinds(room, BOARDS)


def places__cabinets(room):
    """Cabinets first, then drawers. Mends: step_limit."""
    return by_kinds(room, ("cabinet", "wardrobe", *DRAWERS))


def places__drawers(room):
    """Drawers first. Mends: step_limit."""
    return by_kinds(room, DRAWERS)


def opening__never(name):
    """A closed receptacle: it is left closed."""
    return []


def opening__always(name):
    """It is opened. Mends: step_limit, not_found."""
    return ["open " + name]


def treatment__none(room, what):
    """A thing to be cleaned, heated or cooled: it is taken as it is."""
    return []


def treatment__at_appliance(room, what):
    """It is carried to where that is done, unless it was done. Mends: step_limit, precondition, no_effect."""
    if what is None or what[2] in room["held_is"]:
        return []
    appliance = next((name for name in room["receptacles"] if kind(name) == what[1]), "")
    return [*reach(room, appliance), what[0] + " " + room["held"] + " " + appliance]


def delivery__direct(name):
    """At a closed place: the thing is put there as it is."""
    return []


def delivery__open(name):
    """The place is opened first. Mends: precondition."""
    return ["open " + name]


def target__first(room):
    """Where to put it: the first receptacle of that kind."""
    return next(name for name in room["receptacles"] if kind(name) == room["place"])


def target__last(room):
    """The last one of that kind."""
    return [name for name in room["receptacles"] if kind(name) == room["place"]][-1]


def wanted__any(room, name):
    """Which things are taken: all of the kind."""
    return True


def wanted__elsewhere(room, name):
    """Those that are not where they belong already. Mends: step_limit, no_effect."""
    return kind(name) != room["place"]


def lamp__search(room):
    """Where the lamp is: look for it as for anything else."""
    return search(room)


def lamp__tables(room):
    """On a table or desk. Mends: step_limit."""
    return ["goto " + name for name in by_kinds(room, ("desk", "sidetable")) if room["at"] != name][:1]
