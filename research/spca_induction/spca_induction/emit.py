"""Rules as a readable Python program."""

from __future__ import annotations

from collections.abc import Sequence

from spca_induction.effects import Effect, Role, roles
from spca_induction.goals import ANY, MENTIONED, Condition, Ending, Feature
from spca_induction.helpers import said
from spca_induction.literals import Literal
from spca_induction.rulebook import Clause, Group, Rulebook


def emit(rules: Rulebook) -> str:
    """The source of `transition` and `reward`."""
    return "\n".join([*_transition(rules), "", "", *_reward(rules)]) + "\n"


def _transition(rules: Rulebook) -> list[str]:
    frame = rules.frame
    if frame is None:
        return ["def transition(state, action):", "    return state"]
    lines = []
    if frame.moves:
        lines += [f"MOVES = {dict(frame.moves)!r}", "", ""]
    lines += ["def transition(state, action):", f"    me = find(state, {frame.mover!r})"]
    lines += ["    if me is None or me.x is None:", "        return state"]
    if frame.holding:
        lines.append(f"    held = me[{frame.holding!r}]")
    for group in rules.groups:
        lines += _group(group, rules)
    return [*lines, "    return state"]


def _group(group: Group, rules: Rulebook) -> list[str]:
    frame = rules.frame
    assert frame is not None
    if len(group.actions) == 1:
        lines = [f"    if action == {group.actions[0]!r}:"]
    else:
        lines = [f"    if action in {group.actions!r}:"]
    moving = group.actions[0] in frame.compass
    reach = max([0, *(clause.reach for clause in group.clauses)])
    if reach and not moving and not frame.facing:
        return [*lines, "        return state"]
    if reach:
        lines.append("        dx, dy = MOVES[action]" if moving else f"        dx, dy = me[{frame.facing!r}]")
        lines.append(f"        ahead = cells_ahead(state, me, dx, dy, {reach})")
    elif any(c.unless or roles(c.effects) for c in group.clauses):
        lines.append("        ahead = cells_ahead(state, me, 0, 0, 0)")
    for clause in group.clauses:
        lines += _clause(clause, frame.holding)
    return lines


def _clause(clause: Clause, holding: str) -> list[str]:
    named = {role: f"thing{i or ''}" for i, role in enumerate(dict.fromkeys(roles(clause.effects)))}
    lines = [
        f"        {name} = " + (f"only(ahead[{k}])" if how == "any" else f"find(ahead[{k}], {kind[0]!r})")
        for (how, k, *kind), name in named.items()
    ]
    conditions = [f"{name} is not None" for name in named.values()]
    conditions += ["held is not None" for e in clause.effects if e[0] == "put"]
    conditions += [f"{e[2]!r} in {named[e[1]]}" for e in clause.effects if e[0] == "set"]
    conditions += [_unless(conjunction) for conjunction in clause.unless]
    conditions = list(dict.fromkeys(conditions))
    body = [line for effect in clause.effects for line in _effect(effect, named, holding)]
    if len(conditions) == 1:
        lines.append(f"        if {conditions[0]}:")
    elif conditions:
        lines.append("        if (")
        lines += [f"            {'and ' if i else ''}{c}" for i, c in enumerate(conditions)]
        lines.append("        ):")
    indent = "            " if conditions else "        "
    return [*lines, *(indent + line for line in [*body, "return state"])]


def _unless(conjunction: Sequence[Literal]) -> str:
    if len(conjunction) == 1:
        literal = conjunction[0]
        return _literal(literal[1] if literal[0] == "not" else ("not", literal))
    return f"not ({' and '.join(_literal(one) for one in conjunction)})"


def _literal(literal: Literal) -> str:
    match literal:
        case ("not", ("empty", k)):
            return f"ahead[{k}]"
        case ("not", ("held",)):
            return "held is None"
        case ("not", inner):
            text = _literal(inner)
            return f"not ({text})" if " " in text.split("(")[0] else f"not {text}"
        case ("kind", k, kind):
            return f"has(ahead[{k}], {kind!r})"
        case ("empty", k):
            return f"not ahead[{k}]"
        case ("value", k, name, value):
            return f"has_value(ahead[{k}], {name!r}, {value!r})"
        case ("same", k, name):
            return f"agrees(ahead[{k}], held, {name!r})"
        case ("held",):
            return "held is not None"
        case ("held_kind", kind):
            return f"(held is not None and held.kind == {kind!r})"
    raise ValueError(f"not a literal: {literal}")


def _effect(effect: Effect, named: dict[Role, str], holding: str) -> list[str]:
    match effect:
        case ("step", m):
            return [f"me.x, me.y = me.x + {_times(m, 'dx')}, me.y + {_times(m, 'dy')}"]
        case ("turn", name, matrix):
            return [f"me[{name!r}] = turned(me[{name!r}], {matrix!r})"]
        case ("put", k):
            spot = f"me.x + {_times(k, 'dx')}, me.y + {_times(k, 'dy')}" if k else "me.x, me.y"
            return [f"state.append(Entity(held.kind, {spot}, held.values))", f"me[{holding!r}] = None"]
    one = named[effect[1]]
    match effect:
        case ("push", _, m):
            return [f"{one}.x += {_times(m, 'dx')}", f"{one}.y += {_times(m, 'dy')}"]
        case ("set", _, name, value):
            return [f"{one}[{name!r}] = {value!r}"]
        case ("take", _):
            return [f"state.remove({one})", f"{one}.x = {one}.y = None", f"me[{holding!r}] = {one}"]
    return [f"state.remove({one})"]


def _times(m: int, name: str) -> str:
    return name if m == 1 else f"{m} * {name}"


def _reward(rules: Rulebook) -> list[str]:
    rewards = rules.rewards
    lines = [
        "def reward(before, action, after, mission):",
        "    words = mission.split()",
        f"    paid = {rewards.constant!r}",
    ]
    lines += [f"    paid += {weight!r} * ({_change(feature)})" for feature, weight in rewards.weights]
    if rules.frame is not None and (rewards.wins or rewards.losses):
        lines.append(f"    me = find(after, {rules.frame.mover!r})")
        taken = [m for e in (*rewards.wins, *rewards.losses) for m in e.missions]
        for ending in (*rewards.wins, *rewards.losses):
            lines += _ending(ending, rules, taken)
    return [*lines, "    return round(paid, 6), False"]


def _change(feature: Feature) -> str:
    def counted(state: str) -> str:
        match feature:
            case ("on", kind, other):
                return f"count_on({state}, {kind!r}, {other!r})"
            case ("count", kind):
                return f"len(find_all({state}, {kind!r}))"
        _, kind, name, value = feature
        return f"sum(e[{name!r}] == {value!r} for e in find_all({state}, {kind!r}))"

    return f"{counted('after')} - {counted('before')}"


def _ending(ending: Ending, rules: Rulebook, taken: Sequence[str]) -> list[str]:
    shown = ", ".join(
        repr(p) for p in mission_patterns(ending.missions, [m for m in taken if m not in ending.missions])
    )
    conditions = " and ".join(_condition(one, rules) for one in ending.goal)
    lines = [f"    if said(mission, {shown}) and {conditions}:"]
    if ending.guess:
        lines.insert(0, "    # A guess: no such episode was won so far.")
    return [*lines, f"        return round(paid + {ending.bonus!r}, 6), True"]


def _condition(condition: Condition, rules: Rulebook) -> str:
    frame = rules.frame
    assert frame is not None
    match condition:
        case ("act", action):
            return f"action == {action!r}"
        case ("all_on", kind, other):
            return f"all_on(after, {kind!r}, {other!r})"
        case ("none", kind):
            return f"not find_all(after, {kind!r})"
    place, (kind, attributes) = condition
    mentioned = tuple(n for n, v in attributes if v == MENTIONED)
    values = {n: v for n, v in attributes if v != MENTIONED}
    extra = f", {mentioned!r}" if mentioned or values else ""
    extra += f", **{values!r}" if values else ""
    symbol = {ANY: "*", MENTIONED: "?"}.get(kind, kind)
    like = f"is_like(e, {symbol!r}, words{extra})"
    if place == "held":
        return f"me is not None and any({like} for e in [me[{frame.holding!r}]] if e is not None)"
    if place == "some":
        return f"any({like} for e in after if e is not me)"
    return f"me is not None and any({like} for e in things_at(after, me.x, me.y) if e is not me)"


def mission_patterns(missions: Sequence[str], others: Sequence[str]) -> list[str]:
    """Missions with the words in which they differ left open, as far as no other mission is meant too."""
    found: list[list[str]] = []
    for mission in missions:
        words = mission.split()
        for k, pattern in enumerate(found):
            if len(pattern) != len(words):
                continue
            merged = [a if a == b else "*" for a, b in zip(pattern, words, strict=True)]
            open_words = merged.count("*")
            if 2 * open_words <= len(words) and not any(said(other, " ".join(merged)) for other in others):
                found[k] = merged
                break
        else:
            found.append(words)
    return sorted({" ".join(pattern) for pattern in found})
