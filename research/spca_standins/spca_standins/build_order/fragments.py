"""Fragments of programs that order units: see `spca_standins.grammar` for the form.

State passed between them: `have` (standing), `soon` (standing, under way or ordered in this plan), `table`
(name → details of its order), `minerals`, `gas`, `free` (supply), `wanted`, `time`, `order` (what this plan
orders so far).
"""

MOST = 5


def plan(observation, actions, task):
    """Up to five orders: what the economy asks for, then wanted units with what each of them needs."""
    state = read(observation, actions)
    for name in economy(state):
        put(state, name)
    for name in goals(state):
        if len(state["order"]) >= MOST:
            break
        for need in prerequisites(state, name):
            put(state, need)
        for maker in makers(state, name):
            put(state, maker)
        put(state, name)
    orders = sequence(state, state["order"])[:MOST]
    return [state["table"][name]["order"] for name in orders] or ["WAIT"]


def read(observation, actions):
    """The state as the fragments see it."""
    table = {a["detail"]["name"]: dict(a["detail"], order=a["name"]) for a in actions if a["detail"]}
    have = dict(observation["have"])
    soon = dict(have)
    for name, count in observation["underway"].items():
        soon[name] = soon.get(name, 0) + count
    coming = sum(table[n]["provides"] * c for n, c in observation["underway"].items())
    return {
        "have": have,
        "soon": soon,
        "table": table,
        "wanted": observation["wanted"],
        "minerals": observation["minerals"],
        "gas": observation["gas"],
        "free": observation["supply_cap"] - observation["supply_used"],
        "coming": coming,
        "time": observation["time"],
        "idle": observation["idle"],
        "order": [],
    }


def put(state, name):
    """Order something, after the supply and gas it needs."""
    entry = state["table"][name]
    for extra in [*room(state, entry), *vespene(state, entry), name]:
        bought = state["table"][extra]
        state["order"].append(extra)
        state["soon"][extra] = state["soon"].get(extra, 0) + 1
        state["minerals"] -= bought["minerals"]
        state["gas"] -= bought["gas"]
        state["free"] -= bought["supply"]
        state["coming"] += bought["provides"]


def missing(state, name):
    """How many of a wanted unit are still to be ordered."""
    return max(0, state["wanted"][name] - counted(state, name))


def counted__standing(state, name):
    """What counts as there: only what stands."""
    return state["have"].get(name, 0)


def counted__promised(state, name):
    """What is under way counts, too, so that nothing is ordered twice. Mends: violation."""
    return state["soon"].get(name, 0)


def goals__listed(state):
    """Which wanted unit comes next: as the task lists them."""
    return [name for name in state["wanted"] for _ in range(missing(state, name))]


def goals__cheapest(state):
    """The cheapest units first."""
    cost = {n: state["table"][n]["minerals"] + state["table"][n]["gas"] for n in state["wanted"]}
    return [name for name in sorted(cost, key=cost.get) for _ in range(missing(state, name))]


def goals__dearest(state):
    """The dearest units first, as they take longest. Mends: step_limit."""
    cost = {n: state["table"][n]["minerals"] + state["table"][n]["gas"] for n in state["wanted"]}
    return [name for name in sorted(cost, key=cost.get, reverse=True) for _ in range(missing(state, name))]


def goals__in_turns(state):
    """One of each kind in turn, so that all structures have something to do. Mends: step_limit."""
    left = {name: missing(state, name) for name in state["wanted"]}
    found = []
    while any(left.values()):
        found += [name for name, count in left.items() if count]
        left = {name: max(0, count - 1) for name, count in left.items()}
    return found


def prerequisites__none(state, name):
    """What to build for a unit: nothing, it is simply ordered."""
    return []


def prerequisites__nearest(state, name):
    """The structures that the unit itself names."""
    entry = state["table"][name]
    return [n for n in (entry["maker"], *entry["needs"]) if not state["soon"].get(n)]


def prerequisites__chain(state, name):
    """Structures and what these need in turn, deepest first. Mends: precondition."""
    entry = state["table"][name]
    found = []
    for need in (entry["maker"], *entry["needs"]):
        if not state["soon"].get(need) and need not in found:
            found += [n for n in prerequisites(state, need) if n not in found]
            found.append(need)
    return found


def makers__one(state, name):
    """How many structures make a kind of unit: one."""
    return []


def makers__two(state, name):
    """A second one when all are busy and there are minerals to spare. Mends: no_effect, step_limit."""
    entry = state["table"][name]
    maker = entry["maker"]
    if entry["kind"] != "unit" or maker in ("SCV", "CommandCenter") or maker + "TechLab" in entry["needs"]:
        return []
    busy = state["have"].get(maker, 0) and not state["idle"].get(maker, 0)
    rich = (
        state["minerals"] > 2 * state["table"][maker]["minerals"]
        and state["gas"] >= state["table"][maker]["gas"]
    )
    return [maker] if busy and rich and state["soon"].get(maker, 0) < 2 else []


def room__never(state, entry):
    """Supply: nobody looks after it."""
    return []


def room__late(state, entry):
    """A depot once a unit does not fit any more."""
    lacks = entry["supply"] > state["free"] + state["coming"]
    return ["SupplyDepot"] if lacks else []


def room__ahead(state, entry):
    """A depot while there is still room, so that nothing waits for one. Mends: no_effect, step_limit."""
    lacks = entry["supply"] and entry["supply"] + 4 > state["free"] + state["coming"]
    return ["SupplyDepot"] if lacks else []


def vespene__never(state, entry):
    """Gas: nobody looks after it."""
    return []


def vespene__one(state, entry):
    """A refinery when gas is first needed. Mends: no_effect."""
    return ["Refinery"] if entry["gas"] and not state["soon"].get("Refinery") else []


def vespene__two(state, entry):
    """A second refinery once the first stands and gas is short. Mends: step_limit."""
    if not entry["gas"]:
        return []
    if not state["soon"].get("Refinery"):
        return ["Refinery"]
    short = state["gas"] < entry["gas"] and state["minerals"] > 100
    return ["Refinery"] if short and state["soon"]["Refinery"] < 2 and state["have"].get("Refinery") else []


def economy__none(state):
    """Workers: only as they are wanted."""
    return []


def economy__one_at_a_time(state):
    """One wanted worker in every plan, before anything else. Mends: step_limit."""
    return ["SCV"] if missing(state, "SCV") and state["idle"].get("CommandCenter") else []


def economy__first(state):
    """All wanted workers before anything else."""
    return ["SCV"] * min(MOST, missing(state, "SCV"))


def sequence__strict(state, orders):
    """The order of orders: as they came up."""
    return orders


def sequence__ready_first(state, orders):
    """What can be begun at once goes first, the rest keeps its order. Mends: step_limit."""
    idle = dict(state["idle"])
    ready, later = [], []
    for name in orders:
        entry = state["table"][name]
        stands = all(state["have"].get(n) for n in (entry["maker"], *entry["needs"]))
        free = entry["maker"] == "SCV" or idle.get(entry["maker"], 0) > 0
        if stands and free:
            idle[entry["maker"]] = idle.get(entry["maker"], 0) - 1
            ready.append(name)
        else:
            later.append(name)
    return ready + later


def sequence__begin_only(state, orders):
    """Only what can begin without waiting for a structure; a later plan does the rest. Mends: step_limit."""
    idle = dict(state["idle"])
    ready = []
    for name in orders:
        entry = state["table"][name]
        stands = all(state["have"].get(n) for n in (entry["maker"], *entry["needs"]))
        if stands and (entry["maker"] == "SCV" or idle.get(entry["maker"], 0) > 0):
            idle[entry["maker"]] = idle.get(entry["maker"], 0) - 1
            ready.append(name)
    return ready
