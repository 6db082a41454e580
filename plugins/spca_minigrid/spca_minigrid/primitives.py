"""The seven primitives, by MiniGrid's numbers."""

from __future__ import annotations

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
NAMES = ("LEFT", "RIGHT", "FORWARD", "PICK_UP", "DROP", "TOGGLE", "DONE")
