"""From records to things to draw. Frame `world`, metres."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from spca_core.contacts import Pair
from spca_core.geometry import Pose, Vec3
from spca_core.kinds import is_round
from spca_core.names import words_of
from spca_core.plan import Step
from spca_core.scene import Scene
from spca_core.verdict import Outcome, Verdict
from spca_core.world import World
from spca_robot.gripper_2f85 import STROKE

Colour = tuple[float, float, float, float]

_COLOURS: dict[str, Vec3] = {"red": (0.9, 0.2, 0.2), "green": (0.2, 0.75, 0.3), "blue": (0.25, 0.4, 0.95)}
_GREY: Vec3 = (0.7, 0.7, 0.7)
_WHITE: Colour = (1.0, 1.0, 1.0, 1.0)
_OUTCOMES: dict[Outcome, Colour] = {
    Outcome.RUNNING: _WHITE,
    Outcome.SUCCESS: (0.3, 1.0, 0.4, 1.0),
    Outcome.FAIL: (1.0, 0.35, 0.3, 1.0),
    Outcome.TIMEOUT: (1.0, 0.7, 0.2, 1.0),
}
_SEEN, _REMEMBERED = 0.55, 0.2  # opacity
_LETTER, _LINE = 0.03, 0.04  # m: height of letters, distance of lines
_ORIGIN = Pose(position=(0.0, 0.0, 0.0))
_GROW = 0.002  # m: drawn around an object, not in its faces


@dataclass(frozen=True)
class Picture:
    """A box, a cylinder, a text or a line.

    A cylinder's size is diameter, diameter, height; a text's `size[2]` is the height of its letters.

    A line goes through `points`, which are in the frame `world`, and size[0] is its width.
    """

    kind: Literal["cube", "cylinder", "text", "line"]
    pose: Pose
    size: Vec3
    colour: Colour
    text: str = ""
    points: tuple[Vec3, ...] = ()


def scene_pictures(scene: Scene) -> list[Picture]:
    """Every detected object with its name; those only remembered are fainter."""
    pictures = []
    for thing in scene.objects:
        if thing.kind == "table":
            continue
        r, g, b = _COLOURS.get(thing.colour, _GREY)
        look = (r, g, b, _SEEN if thing.visible else _REMEMBERED)
        x, y, z = (edge + 2 * _GROW for edge in thing.size)
        pictures.append(Picture("cylinder" if is_round(thing.kind) else "cube", thing.pose, (x, y, z), look))
        above = _above(thing.pose, thing.size[2] / 2 + _LETTER)
        words = words_of(thing.id) + ("" if thing.visible else " (remembered)")
        pictures.append(_text(above, words, _WHITE))
    return pictures


def plan_pictures(steps: Sequence[Step], done: int, world: World) -> list[Picture]:
    """The plan as a column of text next to the table; `done` steps have ended, the next one is under way."""
    lines = [f"{'✓' if i < done else '▶' if i == done else ' '} {step}" for i, step in enumerate(steps)]
    return [
        _text(_beside(world, i), line, _WHITE if i >= done else (0.7, 0.7, 0.7, 1.0))
        for i, line in enumerate(lines)
    ]


def contact_pictures(pairs: Iterable[Pair], world: World) -> list[Picture]:
    """The contacts as a column of text on the other side of the table. Ground truth: for people only."""
    return [
        _text(_beside(world, row, left=False), f"{a} – {b}", (0.7, 0.85, 1.0, 1.0))
        for row, (a, b) in enumerate(sorted(pairs))
    ]


def grasp_pictures(poses: Sequence[Pose]) -> list[Picture]:
    """Candidate grasps, each as the bar between its two fingertips.

    The best one is opaque and comes first.
    """
    return [
        Picture("cube", pose, (0.006, STROKE, 0.006), (0.3, 1.0, 0.5, 0.9 if i == 0 else _REMEMBERED))
        for i, pose in enumerate(poses)
    ]


def path_pictures(points: Sequence[Vec3]) -> list[Picture]:
    """The way of the tool's centre point on a trajectory."""
    if len(points) < 2:
        return []
    return [Picture("line", _ORIGIN, (0.004, 0.0, 0.0), (1.0, 0.75, 0.2, 0.9), points=tuple(points))]


def verdict_pictures(verdict: Verdict, world: World) -> list[Picture]:
    """The verdict above the table, in the colour of its outcome."""
    words = f"{verdict.outcome.value}  {verdict.score:.2f}  {verdict.reason}".strip()
    x, y = world.table.centre
    pose = Pose(position=(x, y, world.table.top + 0.55))
    return [_text(pose, words, _OUTCOMES[verdict.outcome], 1.6 * _LETTER)]


def _text(pose: Pose, words: str, colour: Colour, letter: float = _LETTER) -> Picture:
    return Picture("text", pose, (0.0, 0.0, letter), colour, words)


def _above(pose: Pose, height: float) -> Pose:
    x, y, z = pose.position
    return Pose(position=(x, y, z + height))


def _beside(world: World, row: int, left: bool = True) -> Pose:
    table = world.table
    side = table.size[1] / 2 + 0.15
    return Pose(
        position=(table.centre[0], table.centre[1] + (side if left else -side), table.top + 0.5 - row * _LINE)
    )
