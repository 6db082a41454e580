"""Which alternative a skill is offered first: what a rehearsal found to work best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from spca_core.plan import Choice

# Alternatives whose numbers differ by less than this (metres, see `_numbers`) are the same one, seen again.
_SAME = 0.03
_TURN = 0.05
"""Metres from the tool's axis at which a turn of it counts as a distance."""


class Preferences:
    """Puts what is preferred first, and remembers what was offered."""

    def __init__(self) -> None:
        self.choices: tuple[Choice, ...] = ()
        self.offered: list[tuple[str, tuple[str, ...], list[Any]]] = []
        """Call, arguments and alternatives, as they were offered, since the list was cleared."""

    def arranged(self, call: str, args: Sequence[Any], alternatives: list[Any]) -> list[Any]:
        """The alternatives of a call with the preferred one first, if it is among them."""
        known = call, tuple(map(str, args))
        for choice in self.choices:
            if (choice.call, choice.args) != known or not alternatives:
                continue
            best = min(alternatives, key=lambda a: _apart(a, choice))
            if _apart(best, choice) < _SAME:
                alternatives = [best, *(a for a in alternatives if a is not best)]
        self.offered.append((*known, alternatives))
        return alternatives

    def others(self) -> list[tuple[Choice, ...]]:
        """What could have been preferred to the first of each offer; the latest offer first."""
        found = {
            (call, args): tuple(Choice(call=call, args=args, values=_numbers(a)) for a in alternatives[1:])
            for call, args, alternatives in self.offered
        }
        return [choices for choices in reversed(found.values()) if choices]


def _numbers(alternative: Mapping[str, Any]) -> tuple[float, ...]:
    """A pose, grasp or spot as lengths in metres."""
    found: list[float] = []
    for name, value in alternative.items():
        if isinstance(value, Mapping):
            found += _numbers(value)
        elif name == "yaw":
            found += [_TURN * math.cos(value), _TURN * math.sin(value)]
        else:
            found.append(float(value))
    return tuple(round(v, 6) for v in found)


def _apart(alternative: Mapping[str, Any], choice: Choice) -> float:
    numbers = _numbers(alternative)
    return math.dist(numbers, choice.values) if len(numbers) == len(choice.values) else math.inf
