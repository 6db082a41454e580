"""Context of a situation for a selector: its observation as words, and what has been done so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from spca_programs.plan_world import ActionSequence, ChoiceContext, Decision, Situation

_SKIPPED = ("memory",)
_MOST_FACTS = 160
_MOST_TRIED = 12


def context_of(situation: Situation, decisions: Sequence[Decision]) -> ChoiceContext:
    """The context of the next choice of an episode."""
    last = decisions[-1] if decisions else None
    tried: ActionSequence = tuple(a for d in decisions for a in d.candidates[d.chosen].plan)
    return ChoiceContext(
        instruction=situation.instruction,
        facts=tuple(facts_of(situation.observation)),
        text=situation.text,
        decision=len(decisions),
        last_plan=last.candidates[last.chosen].plan if last else (),
        last_failure=last.remarks[0].kind if last and last.remarks else "",
        tried=tried[-_MOST_TRIED:],
    )


def facts_of(observation: dict[str, Any]) -> list[str]:
    """An observation as short words: `path=value`, numbers by their order of magnitude, lists item by item.

    >>> facts_of({"minerals": 130, "have": {"SCV": 12}, "facts": ["on cube_red table"], "held": False})
    ['minerals=~128', 'have.SCV=12', 'facts:on cube_red table', 'held=False']
    """
    found: list[str] = []
    for key, value in observation.items():
        if key not in _SKIPPED:
            _add(found, key, value)
    return found[:_MOST_FACTS]


def _add(found: list[str], path: str, value: Any) -> None:
    if len(found) >= _MOST_FACTS:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            _add(found, f"{path}.{key}", item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, (dict, list, tuple)):
                _add(found, path, item)
            else:
                found.append(f"{path}:{item}")
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        found.append(f"{path}={value}")
    else:
        found.append(f"{path}={_rounded(value)}")


def _rounded(number: float) -> str:
    """Small whole numbers as they are, others by the nearest power of two."""
    if number == int(number) and abs(number) <= 16:
        return str(int(number))
    power = round(math.log2(abs(number))) if number else 0
    return f"~{'-' if number < 0 else ''}{2**power if power >= 0 else f'1/{2**-power}'}"
