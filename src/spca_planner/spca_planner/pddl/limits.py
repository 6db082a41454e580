"""The limits on the size of a draft.

A model may write anything, and every draft must be judged in bounded time and memory.

The bounds are several times what the largest sound draft needs (a tabletop domain has 3,000 characters, 9
actions and nesting of 7; the largest of the PDDL bench has 5,200 characters and 13 actions).
"""

from __future__ import annotations

MOST_CHARACTERS = 40_000
"""Characters of a domain, and of a problem."""
DEEPEST_NESTING = 40
"""Parentheses within parentheses.

Unified Planning's reader and Fast Downward's translator recurse on them.
"""
LONGEST_NAME = 80
"""Characters of one name."""
MOST_PARAMETERS = 20
"""Parameters of one action or predicate."""
MOST_OBJECTS = 400
"""Objects and constants together."""
MOST_PREDICATES = 150
MOST_ACTIONS = 100
MOST_INSTANCES = 20_000
"""Conditions that the quantifiers of one formula may stand for, over all objects of the problem."""
MOST_FAULTS = 8
"""Faults reported in one rejection."""
LONGEST_FAULT = 400
LONGEST_MESSAGE = 1_800
"""Characters of one fault, and of a whole rejection."""


def clipped(text: str, length: int = LONGEST_FAULT) -> str:
    """At most `length` characters of `text`, marked where it is cut.

    >>> clipped("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"
