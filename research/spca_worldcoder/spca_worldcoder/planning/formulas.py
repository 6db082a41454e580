"""Conditions of PDDL as text, simplified as they are put together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

TRUE, FALSE = "(and)", "(or)"


def conjunction(parts: Iterable[str]) -> str:
    """All of them."""
    listed = [part for part in dict.fromkeys(parts) if part != TRUE]
    if FALSE in listed:
        return FALSE
    return listed[0] if len(listed) == 1 else f"(and {' '.join(listed)})" if listed else TRUE


def consistent(parts: Iterable[str]) -> list[str]:
    """Conditions of a conjunction; only `FALSE` where one is the contrary of another."""
    listed = list(dict.fromkeys(parts))
    taken = set(listed)
    return [FALSE] if any(negation(part) in taken for part in listed) else listed


def disjunction(parts: Iterable[str]) -> str:
    """One of them."""
    listed = [part for part in dict.fromkeys(parts) if part != FALSE]
    if TRUE in listed:
        return TRUE
    return listed[0] if len(listed) == 1 else f"(or {' '.join(listed)})" if listed else FALSE


def negation(part: str) -> str:
    """The contrary."""
    if part in (TRUE, FALSE):
        return FALSE if part == TRUE else TRUE
    return part[5:-1] if part.startswith("(not ") else f"(not {part})"


def not_all(parts: Iterable[str]) -> str:
    """That one of them is false."""
    return disjunction([negation(part) for part in parts])


def with_contraries(action: str, moving: Collection[str]) -> str:
    """The action with a predicate of its own for the absence of each moving class.

    The planner turns places of one thing into one variable; that the thing is not in a cell would be a
    disjunction over all others then, and multiply the actions.
    """
    head, effect, tail = action.partition(":effect")

    def absent(match: re.Match[str]) -> str:
        return f"(x{match[1]}{match[2]})" if match[1] in moving or match[1].startswith("h_") else match[0]

    head = re.sub(r"\(not \(((?:h_)?k\d+)((?: \?\w+)?)\)\)", absent, head)

    def both(match: re.Match[str]) -> str:
        if match[1]:
            return f"{match[0]} (x{match[2]}{match[3]})"
        return f"{match[0]} (not (x{match[2]}{match[3]}))"

    return head + effect + re.sub(r"(\(not )?\(((?:h_)?k\d+)((?: \?\w+)?)\)(?(1)\))", both, tail)
