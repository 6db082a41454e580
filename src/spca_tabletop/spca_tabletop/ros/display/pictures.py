"""From records to things to draw. Frame `world`, metres.

Texts are plain ASCII, as RViz draws no other letter. A column is one text of several lines, as RViz centres
every text on its place.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from spca_core.contacts import Pair
from spca_core.geometry import Pose, Vec3
from spca_core.kinds import is_round
from spca_core.names import words_of
from spca_core.plan import Step
from spca_core.scene import Scene, SceneObject
from spca_core.verdict import Outcome, Verdict
from spca_core.world import World
from spca_robot.gripper_2f85 import STROKE
from spca_sense.catalogue import PALETTE

Colour = tuple[float, float, float, float]

_COLOURS = {colour.name: colour.rgb for colour in PALETTE}
_GREY: Vec3 = (0.6, 0.6, 0.6)
_WHITE: Colour = (1.0, 1.0, 1.0, 1.0)
_OUTCOMES: dict[Outcome, Colour] = {
    Outcome.RUNNING: _WHITE,
    Outcome.SUCCESS: (0.3, 1.0, 0.4, 1.0),
    Outcome.FAIL: (1.0, 0.35, 0.3, 1.0),
    Outcome.TIMEOUT: (1.0, 0.7, 0.2, 1.0),
}
_SEEN, _REMEMBERED = 0.8, 0.25  # opacity
_BLACK: Colour = (0.0, 0.0, 0.0, 1.0)
_LETTER, _SMALL, _LARGE = 0.03, 0.022, 0.045  # m: height of the letters in columns, names, the verdict
_SLOPE = 0.55  # tangent of the angle at which the camera in launch/rviz/spca.rviz looks down
_BELOW = 0.004  # m
_WIDTH = 60  # letters on a line of the verdict
_ORIGIN = Pose(position=(0.0, 0.0, 0.0))
_GROW = 0.002  # m: drawn around an object, not in its faces


@dataclass(frozen=True)
class MarkerShape:
    """A box, a cylinder, a text or a line.

    A cylinder's size is diameter, diameter, height. A text's `size[2]` is the height of its letters and its
    `size[0]` the width of a space; without it RViz takes the space of letters of 0.1 m.

    A line goes through `points`, which are in the frame `world`, and size[0] is its width.
    """

    kind: Literal["cube", "cylinder", "text", "line"]
    pose: Pose
    size: Vec3
    colour: Colour
    text: str = ""
    points: tuple[Vec3, ...] = ()


def scene_pictures(scene: Scene, world: World) -> list[MarkerShape]:
    """Draw the table, and every detected object with its name; those only remembered are fainter.

    Names stand above a stack, the uppermost first: a name of its own above each would be in the next one.
    """
    pictures = [_table(world)]
    for thing in scene.objects:
        r, g, b = _COLOURS.get(thing.colour, _GREY)
        look = (r, g, b, _SEEN if thing.visible else _REMEMBERED)
        x, y, z = (edge + 2 * _GROW for edge in thing.size)
        pictures.append(
            MarkerShape("cylinder" if is_round(thing.kind) else "cube", thing.pose, (x, y, z), look)
        )
    for stack in _stacks(scene.objects):
        lines = [words_of(t.id) + ("" if t.visible else " (remembered)") for t in reversed(stack)]
        x, y, z = stack[-1].pose.position
        behind = _SLOPE * max(stack[-1].size[:2]) / 2  # in a slanting view, behind its top and not before it
        # (RViz's lines are two letters high.)
        middle = z + stack[-1].size[2] / 2 + behind + len(lines) * _SMALL
        name = _text(Pose(position=(x, y, middle)), "\n".join(lines), _BLACK, _SMALL)
        pictures.append(name)
    return pictures


def plan_pictures(steps: Sequence[Step], done: int, world: World) -> list[MarkerShape]:
    """Draw the plan as a column of text by the table; `done` steps have ended, the next is under way."""
    marks = ("[x]" if i < done else "[>]" if i == done else "[  ]" for i in range(len(steps)))
    return _column([f"{mark} {step}" for mark, step in zip(marks, steps, strict=True)], _WHITE, world)


def contact_pictures(pairs: Iterable[Pair], world: World) -> list[MarkerShape]:
    """Draw the contacts as a column of text on the table's other side. Ground truth: for people only."""
    return _column([f"{a} - {b}" for a, b in sorted(pairs)], (0.7, 0.85, 1.0, 1.0), world, left=False)


def grasp_pictures(poses: Sequence[Pose]) -> list[MarkerShape]:
    """Draw candidate grasps, each as the bar between its two fingertips.

    The best one is opaque and comes first.
    """
    return [
        MarkerShape("cube", pose, (0.006, STROKE, 0.006), (0.3, 1.0, 0.5, 0.9 if i == 0 else _REMEMBERED))
        for i, pose in enumerate(poses)
    ]


def path_pictures(points: Sequence[Vec3]) -> list[MarkerShape]:
    """Draw the path of the tool centre point on a trajectory."""
    if len(points) < 2:
        return []
    return [MarkerShape("line", _ORIGIN, (0.004, 0.0, 0.0), (1.0, 0.75, 0.2, 0.9), points=tuple(points))]


def verdict_pictures(verdict: Verdict, world: World) -> list[MarkerShape]:
    """Draw the verdict above the table, in the colour of its outcome."""
    words = f"{verdict.outcome.value}  {verdict.score:.2f}\n{textwrap.fill(verdict.reason, _WIDTH)}".strip()
    x, y = world.table.centre
    pose = Pose(position=(x, y, world.table.top + 0.75))
    return [_text(pose, words, _OUTCOMES[verdict.outcome], _LARGE)]


def _table(world: World) -> MarkerShape:
    """Draw the slab a little lower than it is, so that a cloud of depths on it is seen."""
    table = world.table
    x, y = table.centre
    pose = Pose(position=(x, y, table.top - table.size[2] / 2 - _BELOW))
    return MarkerShape("cube", pose, table.size, (*table.colour, 1.0))


def _stacks(things: Iterable[SceneObject]) -> list[list[SceneObject]]:
    """Return the stacks of things that lie on one another, each from below."""
    stacks: list[list[SceneObject]] = []
    for thing in sorted(things, key=lambda t: t.pose.position[2]):
        x, y, _ = thing.pose.position
        for stack in stacks:
            below_x, below_y, _ = stack[-1].pose.position
            if math.hypot(x - below_x, y - below_y) < max(stack[-1].size[:2]) / 2:
                stack.append(thing)
                break
        else:
            stacks.append([thing])
    return stacks


def _column(lines: Sequence[str], colour: Colour, world: World, left: bool = True) -> list[MarkerShape]:
    """Draw lines of text next to the table."""
    if not lines:
        return []
    table = world.table
    side = table.size[1] / 2 + 0.15
    x, y = table.centre
    pose = Pose(position=(x, y + (side if left else -side), table.top + 0.4))
    return [_text(pose, "\n".join(lines), colour)]


def _text(pose: Pose, words: str, colour: Colour, letter: float = _LETTER) -> MarkerShape:
    plain = words.encode("ascii", "replace").decode()
    return MarkerShape("text", pose, (0.5 * letter, 0.0, letter), colour, plain)
