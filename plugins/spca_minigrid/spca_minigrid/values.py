"""The values that a MiniGrid skill gets from its `ctx`.

They are plain JSON here, and records with attributes in the sandbox.
"""

from __future__ import annotations

from typing import TypedDict


class Reply(TypedDict):
    """What a primitive did.

    over: the level has ended, do nothing more; moved: whether pose, hand or map changed; news: whether
    something was seen for the first time; ahead: the cell that the agent faces now.
    """

    over: bool
    moved: bool
    news: bool
    ahead: str


class Thing(TypedDict):
    """A thing that is known.

    kind: door, key, ball, box or goal; state, of doors: open, closed or locked; x to the right and y down, in
    cells from where the agent started; held: in the hand; moving: it moves by itself.
    """

    id: str
    kind: str
    colour: str
    state: str
    x: int
    y: int
    held: bool
    moving: bool


class View(TypedDict):
    """The agent and all that it knows.

    x to the right and y down, in cells from where it started; direction: 0 right, 1 down, 2 left, 3 up;
    ahead: the cell it faces; held: id of the thing in the hand or ""; over: the level has ended.
    """

    x: int
    y: int
    direction: int
    ahead: str
    held: str
    over: bool
    steps_left: int
    things: list[Thing]


class Route(TypedDict):
    """A way over known cells: primitives (closed doors are opened on the way).

    obstacle: "" or, with `force`, the id of a locked door or a movable thing that stands in the way once the
    steps are done.
    """

    steps: list[int]
    obstacle: str
